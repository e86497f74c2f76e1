import type { Location } from '../../core/profile.ts'
import { statusText, statusTone } from '../../core/view/elements.ts'
import { count, formatDuration, formatNumber } from '../../core/view/units.ts'
import { type ComparedRequest, type Comparison, differenceOf, type Pair, type SpanPair } from './comparison.ts'

/** What a comparison concludes: better or worse for the request, or to be looked at. */
interface Conclusion {
  tone: 'better' | 'worse' | 'warning' | 'neutral'
  claim: string
  detail: string
  location: Location | null
}

const spansTold = 6
const linesTold = 3

/** The whole comparison in one sentence: B is 42.0 ms faster: 21 queries, 48.0 ms → 2, 6.00 ms. */
export function comparisonSentence({ a, b, spans, verdict }: Comparison): string {
  const hasQueries = a.queries.count + b.queries.count > 0
  const before = `${hasQueries ? `${count(a.queries.count, 'query', 'queries')}, ` : ''}${formatDuration(a.duration)}`
  const after = `${hasQueries ? `${b.queries.count}, ` : ''}${formatDuration(b.duration)}`
  return `${verdictText(verdict, spans)}: ${before} → ${after}`
}

function verdictText({ change, difference }: Comparison['verdict'], spans: readonly SpanPair[]): string {
  if (change !== 'noise') return `B is ${formatDuration(Math.abs(difference))} ${change}`
  return spans.some(({ change }) => change !== null) ? 'Time within noise' : 'Within noise'
}

/** What changed, each in a sentence: first how it ended, then what ran, then what was logged. */
export function conclusionsOf(comparison: Comparison): Conclusion[] {
  const { a, b, exceptions, logs, spans } = comparison
  return [
    ...statusConclusion(a, b),
    ...exceptions.map(exceptionConclusion),
    ...spans
      .filter(({ change }) => change !== null)
      .slice(0, spansTold)
      .map(spanConclusion),
    ...logs
      .filter(({ level }) => level >= 40)
      .slice(0, linesTold)
      .map(logConclusion),
  ]
}

/** What did not change, in one sentence. */
export function noiseText({ equalHeaders, spans }: Comparison): string {
  const same = spans.filter(({ change }) => change === null).length
  return `Within noise: ${count(same, 'span')}. Equal: ${count(equalHeaders, 'header')}.`
}

function statusConclusion({ status: a }: ComparedRequest, { status: b }: ComparedRequest): Conclusion[] {
  if (a === b) return []
  const isBad = (status: number | null) => ['error', 'warning'].includes(statusTone(status))
  const tone = isBad(a) === isBad(b) ? 'neutral' : isBad(b) ? 'worse' : 'better'
  return [{ tone, claim: `${statusText(a)} became ${statusText(b)}.`, detail: '', location: null }]
}

function exceptionConclusion({ a, b }: Pair<string>): Conclusion {
  return b === null
    ? { tone: 'better', claim: 'An exception is gone:', detail: a ?? '', location: null }
    : { tone: 'worse', claim: 'A new exception:', detail: b, location: null }
}

function spanConclusion(pair: SpanPair): Conclusion {
  const { location } = pair
  const tone = differenceOf(pair) < 0 ? 'better' : 'worse'
  return { tone, claim: spanClaim(pair), detail: spanDetail(pair), location }
}

function spanClaim(pair: SpanPair): string {
  const { a, b, change } = pair
  const name = pairName(pair)
  if (a === null || b === null) {
    const times = Math.max(a?.count ?? 0, b?.count ?? 0)
    return `${b === null ? 'Gone' : 'New'}: ${times > 1 ? `${times} × ` : ''}${name}.`
  }
  if (change === 'calls') return `${a.count} × ${name} became ${b.count}.`
  return `${name} took ${differenceOf(pair) < 0 ? 'less' : 'more'} time.`
}

/** The name of what is compared: select products; loadSession, its own code; waiting. */
export function pairName({ isPart, name }: SpanPair): string {
  return `${name}${isPart ? ', its own code' : ''}`
}

function spanDetail({ a, b }: SpanPair): string {
  return `${a === null ? 'none' : formatNumber(a.time)} → ${b === null ? 'none' : formatDuration(b.time)}`
}

function logConclusion({ level, message, a, b }: Comparison['logs'][number]): Conclusion {
  const name = level >= 50 ? 'error' : 'warning'
  const claim = b > a ? `${count(b - a, `new ${name}`)} in the log:` : `${count(a - b, name)} less in the log:`
  return { tone: b > a ? 'warning' : 'better', claim, detail: message, location: null }
}
