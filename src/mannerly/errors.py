"""Every exception that Mannerly raises on purpose.

What the *web* does wrong is never an exception: it is an `Outcome` (see `mannerly.model`). These
classes are for what the user gave us (`UsageError`) and for what our own services do
(`FrontierError`, `StoreError`). Libraries' errors are translated into these once, at the border.
"""


class MannerlyError(Exception):
    """Base of all of them. The message is one line and says what to do next."""


class UsageError(MannerlyError):
    """What the user asked for cannot be done as asked; nothing was changed. Exit code 2."""


class ConfigError(UsageError):
    """An option, a key of the configuration file or an environment variable is wrong."""


class CrawlExistsError(UsageError):
    """A new crawl was asked for where there is one already."""


class NoCrawlError(UsageError):
    """A crawl was to be resumed or looked at, and there is none."""


class CrawlMovedError(UsageError):
    """The crawl was handed over to another database; the message names it."""


class CrawlBusyError(UsageError):
    """Another process holds what this one needs for itself alone (a data directory)."""


class SchemaError(UsageError):
    """The data was written by a version of Mannerly that this one cannot read."""


class SettingsDifferError(UsageError):
    """A setting on which all crawlers of one crawl must agree differs; the message names it."""


class UrlError(MannerlyError, ValueError):
    """A string is not a URL that could be crawled. The only error of `mannerly.url`."""


class FrontierError(MannerlyError):
    """The frontier did not do what it was asked; whatever was sent may be sent again."""


class FrontierMisuseError(MannerlyError):
    """The frontier was used against its contract: a mistake of ours, or of who runs two processes
    under one id. Nothing was applied, and sending it again will not help."""


class StoreError(MannerlyError):
    """A record could not be made durable; nothing that was written since counts."""


class ExtractError(MannerlyError):
    """The user's own function failed on a page (its error is the cause). The crawl was stopped
    cleanly, and the page comes again."""
