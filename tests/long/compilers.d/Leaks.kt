package com.kot

import io.netty.buffer.ByteBuf
import io.netty.buffer.PooledByteBufAllocator
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

val pool: PooledByteBufAllocator = PooledByteBufAllocator.DEFAULT

class Audit(private val factor: Int) {
    suspend fun record(buf: ByteBuf): Int {
        delay(1)
        return check(buf) * factor
    }

    fun check(buf: ByteBuf): Int = buf.readableBytes()

    fun inLambda(buf: ByteBuf) {
        val keep: (ByteBuf) -> Int = { b ->
            b.readableBytes() + factor
        }
        apply(buf, keep)
    }

    inline fun twice(buf: ByteBuf, f: (ByteBuf) -> Unit) {
        f(buf)
    }

    fun inInline(buf: ByteBuf) = twice(buf) { b ->
        val r = Runnable { check(b) }
        r.run()
    }

    private fun apply(buf: ByteBuf, f: (ByteBuf) -> Int): Int = f(buf)
}

suspend fun switched(buf: ByteBuf): Int = withContext(Dispatchers.Default) {
    size(buf)
}

fun size(buf: ByteBuf): Int = buf.readableBytes()

fun ByteBuf.ext(): Int = readableBytes()

suspend fun inFlow() {
    flow {
        emit(pool.directBuffer(8))
    }.map { b -> size(b) }.toList()
}

object Single {
    fun lost(buf: ByteBuf) {
        listOf(buf).forEach { b -> b.ext() }
    }
}

fun main() {
    val audit = Audit(2)
    runBlocking {
        for (i in 1..20) {
            audit.record(pool.directBuffer(64))
            audit.inLambda(pool.directBuffer(64))
            audit.inInline(pool.directBuffer(64))
            switched(pool.directBuffer(64))
            inFlow()
            Single.lost(pool.directBuffer(64))
            launch { size(pool.directBuffer(64)) }
        }
    }
    for (i in 1..6) { System.gc(); Thread.sleep(80) }
    println("READY")
}
