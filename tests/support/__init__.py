"""Helpers that several tests share. Fixtures and hooks are in conftest.py; nothing here is a test."""
