"""Modules that npm run gen creates from the OpenAPI document."""
