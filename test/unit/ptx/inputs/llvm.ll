; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.maximum.f32(float, float)
declare float @llvm.nvvm.ex2.approx.f(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.fabs.f32(float)
declare float @llvm.copysign.f32(float, float)
declare float @llvm.floor.f32(float)
declare float @llvm.rint.f32(float)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.bitreverse.i32(i32)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare <8 x bfloat> @llvm.fma.v8bf16(<8 x bfloat>, <8 x bfloat>, <8 x bfloat>)

@tile = internal addrspace(3) global [32 x [33 x float]] undef, align 16
@partial = internal addrspace(3) global [32 x float] undef, align 4
@scale = internal addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 4.0, float 8.0], align 16
@steps = addrspace(1) global i32 5, align 4

; y = a * x + y, four floats a thread
define ptx_kernel void @axpy(ptr addrspace(1) noalias readonly align 16 %x, ptr addrspace(1) align 16 %y, float %a) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %cta = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %cta, %ntid
  %i = add i32 %base, %tid
  %px = getelementptr <4 x float>, ptr addrspace(1) %x, i32 %i
  %py = getelementptr <4 x float>, ptr addrspace(1) %y, i32 %i
  %vx = load <4 x float>, ptr addrspace(1) %px, align 16, !invariant.load !0
  %vy = load <4 x float>, ptr addrspace(1) %py, align 16
  %s0 = insertelement <4 x float> poison, float %a, i32 0
  %s = shufflevector <4 x float> %s0, <4 x float> poison, <4 x i32> zeroinitializer
  %m = fmul contract <4 x float> %s, %vx
  %r = fadd contract <4 x float> %m, %vy
  store <4 x float> %r, ptr addrspace(1) %py, align 16
  ret void
}

; row sums, a block of 64 threads a row of n
define ptx_kernel void @rowsum(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul i32 %row, %n
  %any = icmp slt i32 %tid, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ %tid, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %sum2, %loop ]
  %at = add i32 %start, %i
  %p = getelementptr float, ptr addrspace(1) %x, i32 %at
  %v = load float, ptr addrspace(1) %p, align 4
  %sum2 = fadd float %sum, %v
  %next = add i32 %i, 64
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %s = phi float [ 0.0, %entry ], [ %sum2, %loop ]
  %t1 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s, i32 16, i32 31)
  %s1 = fadd float %s, %t1
  %t2 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s1, i32 8, i32 31)
  %s2 = fadd float %s1, %t2
  %t3 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s2, i32 4, i32 31)
  %s3 = fadd float %s2, %t3
  %t4 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s3, i32 2, i32 31)
  %s4 = fadd float %s3, %t4
  %t5 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s4, i32 1, i32 31)
  %s5 = fadd float %s4, %t5
  %warp = lshr i32 %tid, 5
  %lane = and i32 %tid, 31
  %first = icmp eq i32 %lane, 0
  %slot = getelementptr [32 x float], ptr addrspace(3) @partial, i32 0, i32 %warp
  br i1 %first, label %put, label %join
put:
  store float %s5, ptr addrspace(3) %slot, align 4
  br label %join
join:
  call void @llvm.nvvm.barrier0()
  %leader = icmp eq i32 %tid, 0
  br i1 %leader, label %finish, label %end
finish:
  %a = load float, ptr addrspace(3) @partial, align 4
  %b = load float, ptr addrspace(3) getelementptr ([32 x float], ptr addrspace(3) @partial, i32 0, i32 1), align 4
  %total = fadd float %a, %b
  %out = getelementptr float, ptr addrspace(1) %y, i32 %row
  store float %total, ptr addrspace(1) %out, align 4
  br label %end
end:
  ret void
}

; 8 bf16 a thread: z = x * y + x
define ptx_kernel void @halves(ptr addrspace(1) align 16 %x, ptr addrspace(1) align 16 %y, ptr addrspace(1) align 16 %z) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %px = getelementptr <8 x bfloat>, ptr addrspace(1) %x, i32 %tid
  %py = getelementptr <8 x bfloat>, ptr addrspace(1) %y, i32 %tid
  %pz = getelementptr <8 x bfloat>, ptr addrspace(1) %z, i32 %tid
  %vx = load <8 x bfloat>, ptr addrspace(1) %px, align 16
  %vy = load <8 x bfloat>, ptr addrspace(1) %py, align 16
  %ex = fpext <8 x bfloat> %vx to <8 x float>
  %ey = fpext <8 x bfloat> %vy to <8 x float>
  %m = fmul <8 x float> %ex, %ey
  %a = fadd <8 x float> %m, %ex
  %t = fptrunc <8 x float> %a to <8 x bfloat>
  %c = call <8 x bfloat> @llvm.fma.v8bf16(<8 x bfloat> %vx, <8 x bfloat> %vy, <8 x bfloat> %t)
  store <8 x bfloat> %c, ptr addrspace(1) %pz, align 16
  ret void
}

define internal float @polynomial(float %x, i32 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  %r = phi float [ 1.0, %entry ], [ %r2, %loop ]
  %k = uitofp i32 %i to float
  %r2 = call float @llvm.fma.f32(float %r, float %x, float %k)
  %i2 = add i32 %i, 1
  %more = icmp ult i32 %i2, %n
  br i1 %more, label %loop, label %end
end:
  ret float %r2
}

; calls, constants, a jump table, a local array
define ptx_kernel void @control(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %array = alloca [8 x float], align 4
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %k = load i32, ptr addrspace(1) %pi, align 4
  %x = sitofp i32 %k to float
  switch i32 %k, label %other [
    i32 0, label %c0
    i32 1, label %c1
    i32 2, label %c2
    i32 3, label %c3
    i32 4, label %c4
    i32 5, label %c5
  ]
c0:
  %v0 = call float @polynomial(float %x, i32 3)
  br label %join
c1:
  %q = getelementptr [4 x float], ptr addrspace(4) @scale, i32 0, i32 %k
  %v1 = load float, ptr addrspace(4) %q, align 4
  br label %join
c2:
  %v2 = call float @polynomial(float 2.0, i32 %tid)
  br label %join
c3:
  %s = load i32, ptr addrspace(1) @steps, align 4
  %v3 = uitofp i32 %s to float
  br label %join
c4:
  %h = call float @llvm.floor.f32(float 2.5)
  %v4 = fmul float %h, %x
  br label %join
c5:
  br label %join
other:
  br label %join
join:
  %v = phi float [ %v0, %c0 ], [ %v1, %c1 ], [ %v2, %c2 ], [ %v3, %c3 ], [ %v4, %c4 ], [ 55.0, %c5 ], [ -1.0, %other ]
  %slot = and i32 %tid, 7
  %pa = getelementptr [8 x float], ptr %array, i32 0, i32 %slot
  store float %v, ptr %pa, align 4
  %back = load float, ptr %pa, align 4
  %po = getelementptr float, ptr addrspace(1) %out, i32 %tid
  store float %back, ptr addrspace(1) %po, align 4
  ret void
}

define ptx_kernel void @mixed(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %a = load i32, ptr addrspace(1) %p, align 4
  %b = call i32 @llvm.fshl.i32(i32 %a, i32 %tid, i32 5)
  %c = call i32 @llvm.bitreverse.i32(i32 %b)
  %d = call i32 @llvm.bswap.i32(i32 %c)
  %e = call i32 @llvm.ctpop.i32(i32 %d)
  %w = zext i32 %d to i64
  %f = call i64 @llvm.ctlz.i64(i64 %w, i1 false)
  %g = trunc i64 %f to i32
  %h = call i32 @llvm.smax.i32(i32 %e, i32 %g)
  %i = call i32 @llvm.sadd.sat.i32(i32 %d, i32 %h)
  %j = sdiv i32 %i, 7
  %k = mul i32 %j, %a
  %l = trunc i32 %k to i8
  %m = sext i8 %l to i32
  %n = srem i32 %m, 48
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 %n, ptr addrspace(1) %po, align 4
  %old = atomicrmw add ptr addrspace(1) @steps, i32 1 monotonic
  ret void
}

define ptx_kernel void @floats(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, ptr addrspace(1) %in, i32 %tid
  %x = load float, ptr addrspace(1) %p, align 4
  %a = call float @llvm.nvvm.ex2.approx.f(float %x)
  %b = call float @llvm.maxnum.f32(float %a, float %x)
  %c = call float @llvm.maximum.f32(float %b, float 0.5)
  %d = call float @llvm.sqrt.f32(float %c)
  %e = call float @llvm.copysign.f32(float %d, float %x)
  %f = call float @llvm.rint.f32(float %e)
  %g = fdiv float %f, %c
  %cmp = fcmp ult float %g, 3.0
  %h = select i1 %cmp, float %g, float %x
  %i = fptosi float %h to i32
  %j = sitofp i32 %i to double
  %k = fpext float %h to double
  %l = fsub double %k, %j
  %m = fptrunc double %l to float
  %po = getelementptr float, ptr addrspace(1) %out, i32 %tid
  store float %m, ptr addrspace(1) %po, align 4
  ret void
}

attributes #0 = { "denormal-fp-math-f32"="preserve-sign" }

!nvvm.annotations = !{!1, !2, !3, !4, !5, !6, !7, !8}
!0 = !{}
!1 = !{ptr @axpy, !"kernel", i32 1}
!2 = !{ptr @rowsum, !"kernel", i32 1}
!3 = !{ptr @halves, !"kernel", i32 1}
!4 = !{ptr @control, !"kernel", i32 1}
!5 = !{ptr @mixed, !"kernel", i32 1}
!6 = !{ptr @floats, !"kernel", i32 1}
!7 = !{ptr @rowsum, !"reqntidx", i32 64}
!8 = !{ptr @axpy, !"maxntidx", i32 128}
