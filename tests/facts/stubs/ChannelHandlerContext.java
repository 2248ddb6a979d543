package io.netty.channel;
public interface ChannelHandlerContext { ChannelHandlerContext fireChannelRead(Object o); Object writeAndFlush(Object o); }
