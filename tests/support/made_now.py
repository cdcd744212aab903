"""What a generator makes now, held against the list of what is built."""

from generators import GENERATED, HASHES, ROOT, built
from workshop.changed_modules.kept import kept_here
from workshop.changed_modules.reads import READS, Files, Recorder
from workshop.generator_support import read_hashes, sha256


def made_now(name: str) -> dict[str, str]:
    """Make the files of a generator, which must be those that are listed.

    It may read nothing that it is not known to depend on: else that could change, and
    nothing would be built again.
    """
    recorder = Recorder(Files(ROOT))
    recorder.start()
    try:
        made = built.make(name)
    finally:
        recorder.stop()
    folder = GENERATED / name
    hashes = {folder / file: sha256(text.encode()) for file, text in made.items()}
    assert hashes == read_hashes(HASHES, folder), "if this is meant, run make record"
    reached = kept_here(ROOT, active=True).reached.of(built.program(name))
    read = {ROOT / other for _, what, other in recorder.new() if what == READS}
    assert read <= {*reached, *built.files_of(built.BUILT[name])}
    code = [ROOT / one for one in built.CODE]
    assert all(any(path.is_relative_to(one) for one in code) for path in reached)
    return made
