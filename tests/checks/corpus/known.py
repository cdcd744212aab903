"""False alarms that are known, each with its reason."""

_AS_MANY = "Of as many texts as heads, a mask of three axes is laid over the heads."
_ONES = "It needs a mask; ones are handed in, and there True hides, so all is hidden."
_OF_MODEL = "A flag is_causal is told to it, and the model's mask hides the future."
_FIRST = "The copy of PyTorch's module gets batch_first, although a call is told."
_HALF = "Its softmax in 16 bits is as good as the naive formula in 16 bits."

KNOWN: dict[str, dict[str, str]] = {
    "graykode_transformer": {
        "equals the equation": _ONES,
        "padding is not seen": _ONES,
        "fully masked rows harm nobody": _ONES,
        "gradients arrive": _ONES,
    },
    "gordicaleksa_transformer": {"padding is not seen": _AS_MANY},
    "keywords_alone": {"padding is not seen": _AS_MANY},
    "opt_decoder": {
        "equals the equation": _OF_MODEL,
        "no leak from the future": _OF_MODEL,
        "earlier rows stay": _OF_MODEL,
        "longer than the context": _OF_MODEL,
    },
    "module_time_first_called": {
        "equals the equation": _FIRST,
        "every allowed token counts": _FIRST,
        "texts do not move each other": _FIRST,
        "the same alone as in a batch": _FIRST,
    },
    "bloom": {
        "the order seen does not matter": "Its bias by distance is made by the call."
    },
    "gan_map": {
        "every allowed token counts": "Scores without a scale make weights vanish."
    },
    "host_gpt_oss": {"types and half precision": _HALF},
    "gpt_oss, window: by what is kept": {"types and half precision": _HALF},
    "gpt_oss, scale: of queries": {"types and half precision": _HALF},
    "gpt_oss, sink: first instead of last": {"types and half precision": _HALF},
}
