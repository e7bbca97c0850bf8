"""The generator of the sample benchmark. It is not part of the installed package (docs/reference/sample.md).

A task is a module with `generate(rng, sizes) -> Splits`, named in `sample.tasks.GENERATORS`. It draws
meanings from `sample.world` (words by category, with what people do to them), computes labels from the
meanings, writes them out, and fills its splits with whole blocks through `sample.frame.Shelf`.
"""
