import type { HeapProfiler, Runtime } from 'node:inspector'
import type { Collecting } from '../../core/feature.ts'
import type { Mask } from '../../core/mask/mask.ts'
import { type Profile, toMicroseconds } from '../../core/profile.ts'
import { cut } from '../../core/view/units.ts'
import { sourceOf, type SourceTexts } from '../exceptions/source-excerpt.ts'
import { quantile } from '../home/overview.ts'
import { amountOf, type Caller, type CallNode, chargedCode, FunctionUses, outermostCalls } from './call-tree.ts'
import type { FunctionUse, Samples } from './samples.ts'
import { type RawSamples, samplingIntervals, samplingOf } from './sampling.ts'

/** Characters of a name, and of a URL that is no file. */
const longestText = 200

const fileUrl = /^(?:file:|node:|wasm:|\/|[A-Za-z]:[\\/])/

const ofV8 = /^\((?:root|idle|program|garbage collector)\)$/

/** Masks the names and URLs of all functions, and shortens URLs that hold code. */
function maskSamples(raw: RawSamples, mask: Mask): void {
  const known = new Map<string, string>()
  const masked = (text: string) => {
    const hidden = known.get(text) ?? mask.text(text)
    known.set(text, hidden)
    return hidden
  }
  for (const frame of 'head' in raw ? framesBelow(raw.head) : raw.nodes.map(({ callFrame }) => callFrame)) {
    // V8's own, such as (idle), are no names of the application.
    if (frame.url !== '' || !ofV8.test(frame.functionName)) {
      frame.functionName = cut(masked(frame.functionName), longestText)
    }
    // Files are shown as those of spans and stacks are.
    if (!fileUrl.test(frame.url)) frame.url = cut(masked(frame.url.replace(/^(data:[^,]*,).+/s, '$1…')), longestText)
  }
}

function* framesBelow({ callFrame, children }: HeapProfiler.SamplingHeapProfileNode): Generator<Runtime.CallFrame> {
  yield callFrame
  for (const child of children) yield* framesBelow(child)
}

const functionsKept = 10

/** What sampling a request has shown; nothing while it goes on, as before the response is sent. */
export function collectSamples({ bounds, exchange, keepSamples, mask }: Collecting): Pick<Profile, 'samples'> {
  const sampling = samplingOf(exchange.recorder)
  if (sampling === null) return {}
  const { duration, external, kind, others, othersCount, raw, why } = sampling
  if (why !== null) return { samples: { kind, why: mask.text(why) } }
  if (raw === null) return {}
  maskSamples(raw, mask)
  const calls = outermostCalls(raw, duration)
  const text = JSON.stringify(raw)
  const bytes = Buffer.byteLength(text)
  const isStored = bytes <= bounds.samples
  const samples: Samples = {
    kind,
    duration: toMicroseconds(duration),
    // V8 samples the CPU less often than asked.
    interval: 'head' in raw ? samplingIntervals[kind] : quantile(Float64Array.from(raw.timeDeltas ?? []).sort(), 0.5),
    total: toMicroseconds(amountOf(calls)),
    ...(kind === 'allocations' && external >= samplingIntervals.allocations && { external }),
    hot: hotFunctions(calls),
    charged: chargedCode(calls, functionsKept),
    others: { count: othersCount, tokens: [...others] },
    unstored: isStored
      ? null
      : `The samples have ${bytes} bytes, more than the ${bounds.samples} that are stored with a profile: they were not stored.`,
  }
  if (isStored) keepSamples(text)
  return { samples }
}

function hotFunctions(calls: readonly CallNode[]): FunctionUse[] {
  const uses = new FunctionUses()
  const add = (call: CallNode, caller: Caller | null) => {
    const { kind, location } = call
    const isExplained = kind === 'own' || (kind === 'module' && location !== null)
    uses.add(call, call.self, call.ticks, isExplained ? null : caller)
    const next = isExplained && location !== null ? { function: call.function, location } : caller
    for (const child of call.children) add(child, next)
  }
  for (const call of calls) add(call, null)
  return uses.largest(functionsKept)
}

/** The samples of a profile for viewing: with the text of each line. */
export function readLines({ samples }: Profile): Pick<Profile, 'samples'> {
  if (samples === undefined || 'why' in samples) return {}
  const files: SourceTexts = new Map()
  const complete = (use: FunctionUse) => withLine(use, files)
  return { samples: { ...samples, hot: samples.hot.map(complete), charged: samples.charged.map(complete) } }
}

function withLine(use: FunctionUse, files: SourceTexts): FunctionUse {
  if (use.location === null || use.kind === 'node') return use
  const source = sourceOf(use.location.file, files)?.lines[use.location.line - 1]
  return { ...use, ...(source !== undefined && { source: source.trim() }) }
}
