"""The whole road on scikit-learn's digits: images in, a trained model and its exports out.

python training/quickstart.py [--out FOLDER]
"""

import os

# TensorFlow greets on the descriptor of stderr as it is imported, whatever the log level is.
stderr = os.dup(2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
try:
    from keras_vit.cli.quickstart import main
finally:
    os.dup2(stderr, 2)

if __name__ == "__main__":
    main()
