let captured: NodeJS.CallSite[] = []

function keepSites(_error: unknown, sites: NodeJS.CallSite[]): string {
  captured = sites
  return ''
}

/** Captures up to `frames` stack frames above the call of `below`, nearest first. No stack is formatted. */
export function captureSites(
  below: object & ((...args: never[]) => unknown),
  frames: number,
): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = frames
  Error.prepareStackTrace = keepSites
  const holder = {}
  Error.captureStackTrace(holder, below)
  // Reading the stack is what calls prepareStackTrace.
  Reflect.get(holder, 'stack')
  Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  const sites = captured
  captured = []
  return sites
}
