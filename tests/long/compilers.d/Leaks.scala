package com.sca

import io.netty.buffer.{ByteBuf, PooledByteBufAllocator}
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration

object Leaks {
  private val pool = PooledByteBufAllocator.DEFAULT
  implicit private val ec: ExecutionContext = ExecutionContext.global

  class Audit(factor: Int) {
    def inClosure(buf: ByteBuf): Int = {
      val f: ByteBuf => Int = b => b.readableBytes * factor
      apply(buf, f)
    }

    def inFor(buf: ByteBuf): Option[Int] =
      for {
        b <- Option(buf)
        n <- Option(check(b))
      } yield n * factor

    def check(buf: ByteBuf): Int = buf.readableBytes

    def apply(buf: ByteBuf, f: ByteBuf => Int): Int = f(buf)

    def inFuture(buf: ByteBuf): Future[Int] =
      for {
        b <- Future(buf)
        n = check(b)
        m <- Future(n)
      } yield m

    def inPartial(buf: Any): Int = {
      val p: PartialFunction[Any, Int] = { case b: ByteBuf => check(b) }
      p(buf)
    }

    def inLocal(buf: ByteBuf): Int = {
      def local(b: ByteBuf): Int = check(b)
      Seq(1).map(_ => local(buf)).sum
    }
  }

  trait Keeps {
    def kept(buf: ByteBuf): Int = buf.readableBytes
  }
  object Single extends Keeps

  def main(args: Array[String]): Unit = {
    val audit = new Audit(2)
    for (_ <- 1 to 20) {
      audit.inClosure(pool.directBuffer(64))
      audit.inFor(pool.directBuffer(64))
      Await.result(audit.inFuture(pool.directBuffer(64)), Duration.Inf)
      audit.inPartial(pool.directBuffer(64))
      audit.inLocal(pool.directBuffer(64))
      Single.kept(pool.directBuffer(64))
    }
    for (_ <- 1 to 6) { System.gc(); Thread.sleep(80) }
    println("READY")
  }
}
