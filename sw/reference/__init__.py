"""Float32 models: the published encoder, random ones, their texts."""
