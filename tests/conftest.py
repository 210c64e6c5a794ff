"""For all tests."""

from hypothesis import settings

# A busy machine makes any example slow now and then; what must be fast is measured in CPU time.
settings.register_profile("mannerly", deadline=None)
settings.load_profile("mannerly")
