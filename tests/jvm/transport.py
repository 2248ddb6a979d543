"""With io.netty followed: what only hands a message on, looks at it, or sends it is no step (ADR 36),
so that the last step is the method that lost the buffer."""

from harness import Case
from snapshot import same

RETAINS_IN, RETAINS_OUT = (f"com.app.Transport$Retains{way}" for way in ("In.channelRead", "Out.write"))


def lost_by_the_handler(run):
    same("leaks", run.json.last_steps(), {RETAINS_IN: 2, RETAINS_OUT: 3})
    same("leaked", run.json.totals["leaked"], run.oracle["leaked"])


def named_by_itself(run):
    """A class that include= names is followed with all its methods."""
    assert any("ChannelOutboundBuffer.total" in step for path in run.json.leaked_at()
               for step in path), run.json.leaked_at()


def cases():
    for version in ("4.1.48.Final", "4.1.140.Final", "4.2.20.Final"):
        yield Case(f"transport/{version[:-6]}", "com.app.Probes", "transport", netty=version,
                   agent="include=com.app+io.netty", check=lost_by_the_handler,
                   quick=version == "4.1.140.Final", oracle={"collected": 5})
        # Each buffer in a wrapper of Netty's leak detector, whose methods are no steps either.
        yield Case(f"transport/{version[:-6]} paranoid", "com.app.Probes", "transport", netty=version,
                   jvm=["-Dio.netty.leakDetection.level=PARANOID"], short=(17,),
                   agent="include=com.app+io.netty", check=lost_by_the_handler,
                   oracle={"collected": 5})
    yield Case("transport/named by itself", "com.app.Probes", "transport", "embedded", short=(17,),
               agent="include=com.app+io.netty.channel.ChannelOutboundBuffer",
               check=named_by_itself, oracle={"collected": 2})
