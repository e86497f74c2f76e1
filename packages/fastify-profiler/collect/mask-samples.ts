import type { HeapProfiler, Runtime } from 'node:inspector'
import type { Mask } from '../mask/mask.ts'
import type { RawSamples } from '../watch/sampler.ts'

/** Characters of a name, and of a URL that is no file. */
const longestText = 200

const fileUrl = /^(?:file:|node:|wasm:|\/|[A-Za-z]:[\\/])/

const ofV8 = /^\((?:root|idle|program|garbage collector)\)$/

/** Masks the names and URLs of all functions, and shortens URLs that hold code. */
export function maskSamples(raw: RawSamples, mask: Mask): void {
  const known = new Map<string, string>()
  const masked = (text: string) => {
    const hidden = known.get(text) ?? mask.text(text)
    known.set(text, hidden)
    return hidden
  }
  for (const frame of 'head' in raw ? framesBelow(raw.head) : raw.nodes.map(({ callFrame }) => callFrame)) {
    // V8's own, such as (idle), are no names of the application.
    if (frame.url !== '' || !ofV8.test(frame.functionName)) frame.functionName = shortened(masked(frame.functionName))
    // Files are shown as those of spans and stacks are.
    if (!fileUrl.test(frame.url)) frame.url = shortened(masked(withoutCode(frame.url)))
  }
}

function* framesBelow({ callFrame, children }: HeapProfiler.SamplingHeapProfileNode): Generator<Runtime.CallFrame> {
  yield callFrame
  for (const child of children) yield* framesBelow(child)
}

/** A data: URL without its data. */
function withoutCode(url: string): string {
  return url.replace(/^(data:[^,]*,).+/s, '$1…')
}

function shortened(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}
