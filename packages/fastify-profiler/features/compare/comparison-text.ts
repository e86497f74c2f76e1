import type { Finding } from '../../core/view/block.ts'
import { levelTone, statusText, statusTone } from '../../core/view/elements.ts'
import { count, formatDuration, formatNumber, formatShare } from '../../core/view/units.ts'
import { type ComparedRequest, type Comparison, differenceOf, type Pair, type SpanPair } from './comparison.ts'
import { enough, isNotable, type Verdict } from './verdict.ts'

const spansTold = 6
const linesTold = 3

/** A smaller part of the difference is not told. */
const leastTold = 0.1

/** The whole comparison in one sentence: B is 42.0 ms faster, certain: 48.0 → 6.00 ms, 21 → 2 queries. */
export function comparisonSentence({ a, b, verdict }: Comparison): string {
  const queries = a.queries.count + b.queries.count
  const counts = queries === 0 ? '' : `, ${a.queries.count} → ${count(b.queries.count, 'query', 'queries')}`
  const routes = isSameRoute(a, b) ? '' : ', of two different routes'
  return `${verdictText(verdict)}, ${surenessText(verdict)}${routes}: ${formatDuration(a.duration)} → ${formatDuration(b.duration)}${counts}`
}

/** Whether two requests are of one route. Those without a route are if their paths are the same. */
export function isSameRoute(a: ComparedRequest, b: ComparedRequest): boolean {
  const routeOf = ({ method, route, url }: ComparedRequest) => `${method} ${route ?? url.replace(/\?.*/s, '')}`
  return routeOf(a) === routeOf(b)
}

/** How B's time differs: B took 70.1 ms longer. */
export function verdictText({ change, difference, sureness }: Verdict): string {
  const amount = formatDuration(Math.abs(difference))
  if (change === 'none') return sureness === 'equal' ? 'No difference' : 'B took about as long'
  if (sureness === 'certain') return `B is ${amount} ${change}`
  return `B took ${amount} ${change === 'slower' ? 'longer' : 'less'}`
}

/** How sure that is: certain; seen once, not yet certain; equal. */
export function surenessText({ requests: { a, b }, sureness }: Verdict): string {
  if (sureness !== 'seen') return sureness
  const times = Math.min(a, b)
  return `seen ${times === 1 ? 'once' : `${times} times`}, not yet certain`
}

/** What a verdict on time rests on, and what would make it certain; null if the number of calls decides. */
export function groundsText({ because, requests: { a, b }, sureness }: Verdict): string | null {
  if (because === 'calls') return null
  const sides = `${count(a, 'request')} like A and ${b} like B`
  if (sureness !== 'seen') return `Judged by ${sides}.`
  return Math.min(a, b) < enough
    ? `For certainty it takes ${enough} requests on each side. There ${a === 1 ? 'is' : 'are'} ${sides}: send ${a >= enough ? 'B' : b >= enough ? 'A' : 'both'} again.`
    : `The times of ${sides} vary too much to tell. Send both again.`
}

/** What changed, each in a sentence: first how it ended, then what ran, then what was logged. */
export function conclusionsOf(comparison: Comparison): Finding[] {
  const { a, b, exceptions, logs, spans, verdict } = comparison
  return [
    ...statusConclusion(a, b),
    ...exceptions.map(exceptionConclusion),
    ...spans
      .filter(({ change }) => change !== null)
      .slice(0, spansTold)
      .map(pair => spanConclusion(pair, verdict.difference)),
    ...logs
      .filter(({ level }) => levelTone(level) !== 'neutral')
      .slice(0, linesTold)
      .map(logConclusion),
  ]
}

/** Whether only these two requests show that it took longer or shorter, which may be chance. */
export function isSeenOnce({ a, b, change }: SpanPair): boolean {
  return change === null && isNotable(a?.time ?? 0, b?.time ?? 0)
}

export function sameText({ equalHeaders, spans }: Comparison): string {
  const once = spans.filter(isSeenOnce).length
  const same = spans.filter(({ change }) => change === null).length - once
  const uncertain = once === 0 ? '' : ` ${count(once, 'span')} took more or less time, seen once, not yet certain.`
  return `Much the same: ${count(same, 'span')}, ${count(equalHeaders, 'header')}.${uncertain}`
}

function statusConclusion({ status: a }: ComparedRequest, { status: b }: ComparedRequest): Finding[] {
  if (a === b) return []
  const isBad = (status: number | null) => ['error', 'warning'].includes(statusTone(status))
  const tone = isBad(a) === isBad(b) ? 'neutral' : isBad(b) ? 'worse' : 'better'
  return [{ tone, claim: `${statusText(a)} became ${statusText(b)}.` }]
}

function exceptionConclusion({ a, b }: Pair<string>): Finding {
  return b === null
    ? { tone: 'better', claim: 'An exception is gone:', detail: a ?? '' }
    : { tone: 'worse', claim: 'A new exception:', detail: b }
}

function spanConclusion(pair: SpanPair, difference: number): Finding {
  const { location } = pair
  const tone = differenceOf(pair) < 0 ? 'better' : 'worse'
  return {
    tone,
    claim: spanClaim(pair),
    detail: spanDetail(pair, difference),
    places: location === null ? [] : [location],
  }
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

/** The name of what is compared: select products; loadSession without its calls; waiting. */
export function pairName({ isPart, name }: SpanPair): string {
  return `${name}${isPart ? ' without its calls' : ''}`
}

function spanDetail(pair: SpanPair, difference: number): string {
  const { a, b } = pair
  const times = `${a === null ? 'none' : formatNumber(a.time)} → ${b === null ? 'none' : formatDuration(b.time)}`
  const part = differenceOf(pair) / difference
  return part >= leastTold && part <= 1 ? `${times}, that is ${formatShare(part, 1)} of the difference` : times
}

function logConclusion({ level, message, a, b }: Comparison['logs'][number]): Finding {
  const name = levelTone(level)
  const claim = b > a ? `${count(b - a, `new ${name}`)} in the log:` : `${count(a - b, name)} less in the log:`
  return { tone: b > a ? 'warning' : 'better', claim, detail: message }
}
