"""The dashboard's parts: controls, jobs, figures and the live chart."""
