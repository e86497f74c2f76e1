import type { HeapProfiler, Profiler, Session } from 'node:inspector'
import { isObject, propertyOf } from '../base/foreign-value.ts'
import type { SampleKind } from '../base/samples.ts'

/** Samples as V8 gives them: the content of a `.cpuprofile`, or of a `.heapprofile`. */
export type RawSamples = Profiler.Profile | HeapProfiler.SamplingHeapProfile

/** Microseconds between two samples of the CPU, and bytes between two of the heap. */
export const samplingIntervals: Record<SampleKind, number> = { cpu: 100, allocations: 16_384 }

/** Made for the first request that is sampled. Stays connected: else V8's coverage of the whole process would end. */
let session: Session | null = null

/** Samples this thread from now on. Throws if Node cannot. @returns a function that stops, and returns the samples */
export function startSampler(kind: SampleKind): () => RawSamples {
  const interval = samplingIntervals[kind]
  if (kind === 'allocations') {
    const includeFreed = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
    askInspector('HeapProfiler.startSampling', { samplingInterval: interval, ...includeFreed })
    return () => samplesIn(askInspector('HeapProfiler.stopSampling'))
  }
  askInspector('Profiler.enable')
  askInspector('Profiler.setSamplingInterval', { interval })
  askInspector('Profiler.start')
  return () => samplesIn(askInspector('Profiler.stop'))
}

/** Whether a value has the form of samples. */
export function isRawSamples(value: unknown): value is RawSamples {
  return isObject(value) && ('nodes' in value || 'head' in value)
}

function samplesIn(answer: object): RawSamples {
  const samples = propertyOf(answer, 'profile')
  if (!isRawSamples(samples)) throw new Error('The inspector has no samples.')
  return samples
}

/** Asks the inspector, which answers before `post` returns, since it is in the same thread. */
function askInspector(method: string, parameters: object = {}): object {
  let answer = (): object => {
    throw new Error('The inspector does not answer.')
  }
  connected().post(method, parameters, (error, result = {}) => {
    answer = () => {
      if (error !== null) throw error
      return result
    }
  })
  return answer()
}

function connected(): Session {
  if (session !== null) return session
  // Not imported, since importing it fails in a Node that was built without it.
  const { Session } = process.getBuiltinModule('node:inspector')
  const made = new Session()
  made.connect()
  session = made
  return session
}
