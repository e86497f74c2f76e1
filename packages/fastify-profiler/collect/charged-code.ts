import type { FunctionUse } from '../base/samples.ts'
import { isProfilerFile } from '../base/profiler-files.ts'
import type { CallNode } from './call-tree.ts'
import { FunctionUses } from './function-uses.ts'

/** The application's functions, each with what it has called in libraries and in Node, largest first. */
export function chargedCode(calls: readonly CallNode[], most: number): FunctionUse[] {
  const uses = new FunctionUses()
  charge(calls, null, uses)
  return uses.largest(most)
}

/** @param payer the nearest function of the application that has called these; null if none has */
function charge(calls: readonly CallNode[], payer: CallNode | null, uses: FunctionUses): void {
  for (const call of calls) {
    const charged = call.kind === 'own' ? call : goesOn(call) ? null : payer
    if (charged !== null) uses.add(charged, call.self)
    charge(call.children, charged, uses)
  }
}

/** Whether the profiler goes on after a hook, which has called `done`: what follows is none of the hook's work. */
function goesOn({ function: name, location }: CallNode): boolean {
  return name === 'followedDone' && location !== null && isProfilerFile(location.file)
}
