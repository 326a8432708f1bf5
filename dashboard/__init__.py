"""The dashboard: settings, background work, figures, views, the live transport, widgets and pages."""
