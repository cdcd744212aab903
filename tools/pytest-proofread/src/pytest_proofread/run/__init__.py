"""Run one program as a fresh interpreter would."""

NO_WINDOWS = "pages must be run on Linux or macOS; got sys.platform='win32'."
