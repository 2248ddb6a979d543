"""Milliseconds from exec to exit."""

import subprocess
import time

import jvm
import machine


def sample(experiment, level):
    folder = jvm.Folder(f"{experiment.key}-{level.name}")
    command = [machine.java(experiment.jdk), *level.flags("com.app", folder.file("out.json")),
               "-cp", machine.class_path(experiment.netty), "com.app." + experiment.workload]
    begin = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, env=machine.environment())
    took = time.monotonic() - begin
    if done.returncode != 0:
        raise jvm.Failed(f"{' '.join(command)}: {done.stderr.decode()}")
    folder.remove()
    return {"ms": round(1000 * took, 2)}
