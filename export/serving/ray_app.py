"""The application of `ray.yaml`: replicas and batches, asked in TF Serving's REST form."""

import asyncio
import base64

import numpy as np
from ray import serve
from starlette.responses import JSONResponse

from keras_vit import runtime
from keras_vit.data.decode import decode, fit


@serve.deployment(max_ongoing_requests=64, autoscaling_config={"max_replicas": 4})
class Model:
    """Answers `{"instances": [{"b64": PICTURE}, ...]}`."""

    def __init__(self, path):
        self.model = runtime.open(path)

    @serve.batch(max_batch_size=16, batch_wait_timeout_s=0.002)
    async def logits(self, pixels):
        return list(self.model.logits(np.stack(pixels)))

    async def __call__(self, request):
        about = self.model.preprocessing
        try:
            pictures = [base64.b64decode(one["b64"]) for one in (await request.json())["instances"]]
            pixels = [fit(decode(one, about.channels), about).numpy() for one in pictures]
        except Exception as error:  # TensorFlow has a dozen types for what a file can be
            return JSONResponse({"error": str(error)}, 400)
        rows = await asyncio.gather(*[self.logits(one) for one in pixels])
        return {"predictions": [{"logits": row.tolist()} for row in rows]}


def app(settings):
    return Model.bind(settings["model"])
