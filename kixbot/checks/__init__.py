"""Is it good: rules over a whole build, one file per rule, and the report they add up to.

Pure: values in, values out. MUST NOT read files, the clock or the environment; what a rule needs beside the build
(pins, today's date) is handed in.
"""
