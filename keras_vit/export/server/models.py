"""The models of a folder: versions come and go while requests are answered."""

import contextlib
import dataclasses
import threading

from keras_vit.export.server import folders
from keras_vit.export.server.errors import Refused, first_line
from keras_vit.export.server.loaded import Loaded
from keras_vit.export.server.rules import Latest

# The states of TF Serving's ModelVersionStatus.
LOADING, AVAILABLE, UNLOADING, END = "LOADING", "AVAILABLE", "UNLOADING", "END"


@dataclasses.dataclass(frozen=True)
class Status:
    """What became of a version.

    Args:
        state: one of the states above.
        error: why it could not be loaded, or nothing.
    """

    state: str
    error: str = ""


class Models:
    """Serves the newest versions that can be loaded, and follows the folder.

    Args:
        settings: the server's `Settings`.
        log: function of (event, **fields).
        metrics: the server's `Metrics`.
    """

    def __init__(self, settings, log, metrics):
        self.settings, self.log, self.metrics = settings, log, metrics
        self.rules = {}  # model -> Rule, for those that were configured
        self.looked = False
        self._lock = threading.Lock()  # around the three dicts below
        self._scan_lock = threading.Lock()
        self._loaded = {}  # model -> {version: Loaded}
        self._status = {}  # model -> {version: Status}
        self._broken = {}  # (model, version) -> state of its files when it could not be loaded
        self._seen = {}  # (model, version) -> state of its files at the last look
        self._stopped = threading.Event()
        self._leaving = []

    @property
    def names(self):
        """The models that have a version, sorted."""
        with self._lock:
            return sorted(name for name, versions in self._loaded.items() if versions)

    @property
    def is_ready(self):
        """Whether the folder was looked through and something can be served."""
        return self.looked and bool(self.names)

    @contextlib.contextmanager
    def use(self, name, version=None, label=None):
        """Gives the `Loaded` version of a model, which stays until the block ends.

        Args:
            name: the model.
            version: its number; the newest one by default.
            label: a label that was set for a version.

        Raises:
            Refused: if there is none.
        """
        with contextlib.ExitStack() as stack:
            with self._lock:
                loaded = self._find(name, version, label)
                stack.enter_context(loaded.used())
            yield loaded

    def _find(self, name, version, label):
        versions = self._loaded.get(name) or {}
        if label:
            labels = self.rules[name].labels if name in self.rules else {}
            if label not in labels:
                raise Refused("NOT_FOUND", f"Unrecognized servable version label: {label}")
            version = labels[label]
        wanted = f"Specific({name}, {version})" if version is not None else f"Latest({name})"
        if not versions or (version is not None and version not in versions):
            raise Refused("NOT_FOUND", f"Servable not found for request: {wanted}")
        return versions[max(versions) if version is None else version]

    def status(self, name, version=None):
        """Returns the `Status` of each version of a model, as a dict, newest first.

        Raises:
            Refused: for a model or version that never was there.
        """
        with self._lock:
            known = dict(sorted(self._status.get(name, {}).items(), reverse=True))
        if version is not None:
            known = {number: status for number, status in known.items() if number == version}
        if not known:
            which = "" if version is None else f" with version {version}"
            raise Refused("NOT_FOUND", f"Could not find any versions of model {name}{which}")
        return known

    def watch(self, looked=lambda: None):
        """Looks at the folder until `stop`; runs in a thread.

        Args:
            looked: called after the first look.
        """
        told, first = None, True
        while first or not self._stopped.wait(self.settings.poll_s):
            try:
                self.look()
                told = None
            except Exception as error:  # the folder may be gone for a while; what is loaded stays
                if first_line(error) != told:
                    told = first_line(error)
                    self.log("folder_unreadable", level="error", error=told)
            if first:
                first = False
                looked()

    def look(self):
        """Looks at the folder once: loads what is new, lets go what is old."""
        with self._scan_lock:
            disk = folders.found(self.settings.folder)
            if self.rules:
                disk = {name: versions for name, versions in disk.items() if name in self.rules}
            for name in sorted(set(disk) | set(self._loaded)):
                self._update(name, disk.get(name, {}))
            self.looked = True

    def stop(self):
        """Ends the watching, and lets every version go after its last request."""
        self._stopped.set()
        with self._scan_lock:
            for name in list(self._loaded):
                for number in list(self._loaded[name]):
                    self._retire(name, number)
            for thread in self._leaving:
                thread.join()

    def _update(self, name, disk):
        states = {number: folders.state_of(path) for number, path in disk.items()}
        ready = self._settled(name, states)
        wanted, failed = [], set()
        while True:
            usable = {
                number: disk[number]
                for number in ready
                if number not in failed and self._broken.get((name, number)) != states[number]
            }
            wanted = self._rule(name)(usable)
            new = [number for number in wanted if number not in self._loaded.get(name, {})]
            if not new or self._stopped.is_set():
                break
            if not self._load(name, new[0], disk[new[0]], states[new[0]]):
                failed.add(new[0])
        self._drop(name, wanted, disk)

    def _rule(self, name):
        return self.rules.get(name) or Latest(self.settings.versions)

    def _settled(self, name, states):
        """The versions whose files did not change since the last look: no copy is under way."""
        settled = []
        for number, state in states.items():
            key = (name, number)
            loaded = number in self._loaded.get(name, {})
            if loaded or not self.looked or self._seen.get(key) == state:
                settled.append(number)
            self._seen[key] = state
        return settled

    def _load(self, name, number, path, state):
        self._tell(name, number, Status(LOADING))
        observe = self.metrics.observer(name, number)
        try:
            with self.metrics.loading(name) as seconds:
                loaded = Loaded(name, number, path, self.settings, observe)
        except Exception as error:  # a damaged model can break anything
            self._broken[name, number] = state
            self._tell(name, number, Status(END, first_line(error)))
            self.metrics.load_failed(name)
            self.log(
                "version_cannot_be_loaded",
                level="error",
                model=name,
                version=number,
                error=first_line(error),
            )
            return False
        with self._lock:
            self._loaded.setdefault(name, {})[number] = loaded
        self._tell(name, number, Status(AVAILABLE))
        self.log(
            "version_loaded",
            model=name,
            version=number,
            seconds=round(seconds(), 3),
            warm_up_requests=loaded.warmed_up,
        )
        return True

    def _drop(self, name, wanted, disk):
        old = [number for number in self._loaded.get(name, {}) if number not in wanted]
        # A model whose folder was emptied keeps its last versions: nobody wants an outage.
        if not wanted and not self.rules:
            old = []
        for number in old:
            self._retire(name, number)

    def _retire(self, name, number):
        with self._lock:
            loaded = self._loaded[name].pop(number)
        self._tell(name, number, Status(UNLOADING))

        def leave():
            loaded.let_go()
            self._tell(name, number, Status(END))
            self.log("version_unloaded", model=name, version=number)

        thread = threading.Thread(target=leave, name=f"leave-{name}-{number}", daemon=True)
        thread.start()
        self._leaving = [one for one in self._leaving if one.is_alive()] + [thread]

    def _tell(self, name, number, status):
        with self._lock:
            self._status.setdefault(name, {})[number] = status
        self.metrics.state(name, number, status.state)
