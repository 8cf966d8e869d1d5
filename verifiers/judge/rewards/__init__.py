"""Reward models: what they are sent, how calls are batched, and what score their values come to.

profiles   the part `reward_models` of the file of judge models
presets    what each family of models needs (`presets.yaml`)
texts      the input that a server is sent
batching   several inputs in one call, by tokens
formulas   values of classes, steps, models and references to one value, and that to a score
"""
