package io.netty.util;
public interface ReferenceCounted { boolean release(); }
