import type { ToolbarCard } from '../../core/panel.ts'
import type { Exception, Frame, Location, Profile } from '../../core/profile.ts'
import { type Block, type Blocks, emptyBlocks, type Inline } from '../../core/view/block.ts'
import { locationText, type Place, renderIndent, renderLocation, titled } from '../../core/view/elements.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, codeBlock } from '../../core/view/markdown.ts'
import { count, cut, formatTime } from '../../core/view/units.ts'
import { errorText, queryOf, reasonOf } from '../performance/failed-calls.ts'
import { isRoutingFailure } from '../routing/routing-panel.ts'
import { type Excerpt, excerptMarkdown, renderExcerpt, resolveLocation } from './source-excerpt.ts'

/** The index of the error that has ended the process, or else of the first that can have led to the status. */
export function worstOf({ crash, exceptions, status }: Pick<Profile, 'crash' | 'exceptions' | 'status'>): number {
  if (crash !== undefined) return exceptions.findLastIndex(({ uncaught }) => uncaught !== undefined)
  const isReason = ({ parent, relation, statusCode }: Exception) =>
    parent === null && relation !== 'logged' && Number(statusCode ?? 500) >= 500
  return Number(status) < 500 ? 0 : Math.max(0, exceptions.findIndex(isReason))
}

/** The index of the error at the bottom of a chain: the cause, or else the first member, of each in turn. */
export function rootCauseOf(exceptions: readonly Exception[], from = 0): number {
  // A parent comes before its causes and members; anything else would be a cycle.
  const below = [...exceptions.keys()].filter(index => index > from && exceptions[index]?.parent === from)
  const next = below.find(index => exceptions[index]?.relation === 'cause') ?? below[0]
  return next === undefined ? from : rootCauseOf(exceptions, next)
}

/** The errors of a request: the one that stands for it, and its root cause, by their indexes. */
interface Chain {
  exceptions: readonly Exception[]
  worst: number
  cause: number
}

export function chainOf(profile: Pick<Profile, 'crash' | 'exceptions' | 'status'>): Chain {
  const { exceptions } = profile
  const worst = worstOf(profile)
  return { exceptions, worst, cause: rootCauseOf(exceptions, worst) }
}

/** How many others are above each one. A parent comes before what is below it. */
export function depthsOf(items: ReadonlyArray<{ parent: number | null }>): number[] {
  const depths: number[] = []
  for (const { parent } of items) depths.push(parent === null ? 0 : (depths[parent] ?? -1) + 1)
  return depths
}

/**
 * The number of each error, and its place in its chain if it is not alone in it. Of several chains, each has a number
 * of its own, as in 2.1.
 */
function numbersOf(items: ReadonlyArray<{ parent: number | null }>): Array<{ number: string; place: string | null }> {
  const chains: number[][] = []
  const chainAt: number[][] = []
  for (const [index, { parent }] of items.entries()) {
    const known = parent === null ? undefined : chainAt[parent]
    const chain = known ?? []
    if (known === undefined) chains.push(chain)
    chain.push(index)
    chainAt.push(chain)
  }
  return chainAt.map((chain, index) => {
    const isAlone = chain.length === 1
    const place = chain.indexOf(index) + 1
    const names = chains.length === 1 ? [place] : [chains.indexOf(chain) + 1, ...(isAlone ? [] : [place])]
    return { number: names.join('.'), place: isAlone ? null : `${place} of ${chain.length}` }
  })
}

/** A chain with the numbers that its errors have on a page. */
interface NumberedChain extends Chain {
  numbers: ReturnType<typeof numbersOf>
}

/** Where an error was thrown: at the application's nearest frame, or else at its first; null without a stack. */
function placeOf({ frames }: Exception): Frame | null {
  return frames.find(({ kind }) => kind === 'own') ?? frames[0] ?? null
}

/** The application's frame nearest to an error, which may be one of an error above it; null if there is none. */
export function nearestOwnFrame(exceptions: readonly Exception[], index: number): Frame | null {
  const exception = exceptions[index]
  if (exception === undefined) return null
  const own = exception.frames.find(({ kind }) => kind === 'own')
  const { parent } = exception
  return own ?? (parent === null || parent >= index ? null : nearestOwnFrame(exceptions, parent))
}

/** The line of the application to look at. What Fastify refuses, such as a malformed URL, is the fault of none. */
export function lineOf({ cause, exceptions, worst }: Chain): Frame | null {
  const { code, statusCode } = exceptions[worst] ?? {}
  const isOfClient = code?.startsWith('FST_ERR_') === true && Number(statusCode ?? 500) < 500
  return isOfClient ? null : nearestOwnFrame(exceptions, cause)
}

/** What an error is to the others: Outermost, Root cause, Cause, Member, Thrown, Logged. */
function roleOf({ cause, exceptions, worst }: Chain, index: number): string {
  if (index === worst) return 'Outermost'
  return index === cause ? 'Root cause' : titled(exceptions[index]?.relation ?? '')
}

const MESSAGE_LENGTH = 300

/** The errors of a chain, one line each: those that caused an error, or were gathered in it, are indented under it. */
function renderExceptionTree(chain: NumberedChain, place: Place): Markup {
  const { cause, exceptions, numbers, worst } = chain
  const depths = depthsOf(exceptions)
  return html`<ol class="chain rows" aria-label="Exception chain">${exceptions.map((exception, index) => {
    const mark = index === cause && cause !== worst ? 'solid' : 'neutral'
    const frame = placeOf(exception)
    return html`
<li class="cells${mark === 'solid' && ' error'}"><span class="badge ${mark}">${numbers[index]?.number}</span><span class="said">${renderIndent(depths[index] ?? 0)}<a href="#exception-${index + 1}">${exception.class}</a> <span class="cut">${exception.message.slice(0, MESSAGE_LENGTH)}</span> <span class="badge ${mark}">${roleOf(chain, index)}</span></span><span class="cut">${frame === null ? html`<span class="muted">no stack trace</span>` : renderLocation(frame, place)}</span></li>`
  })}
</ol>`
}

/** Application frames shown with their source below the first, or a deep recursion would fill the page. */
const MORE_SOURCES = 5

/** Lines shown before and after the line of a frame. */
const LINES_AROUND = 3

/**
 * The chain of exceptions, then each with its code: the root cause first, at the nearest line of the application, then
 * the outermost. The others are folded, and have their frames only in the stack traces.
 */
export function exceptionBlocks(
  profile: Pick<Profile, 'crash' | 'exceptions' | 'routing' | 'status'>,
  place: Place,
): Blocks {
  const chain = { ...chainOf(profile), numbers: numbersOf(profile.exceptions) }
  const { cause, exceptions, numbers, worst } = chain
  // The requested path is at fault, not the code that rejects it.
  const open = isRoutingFailure(profile) ? [] : [cause, worst]
  return [
    exceptions.length > 1 && { html: renderExceptionTree(chain, place), markdown: '' },
    ...[...new Set([cause, ...exceptions.keys()])].flatMap((index): Block[] => {
      const exception = exceptions[index]
      if (exception === undefined) return []
      const heading = [exceptions.length > 1 ? `${numbers[index]?.number} ` : null, headingOf(chain, exception, index)]
      const id = `exception-${index + 1}`
      const isOpen = open.includes(index)
      const blocks = bodyOf(chain, exception, index, place, isOpen)
      if (isOpen) return [{ section: heading, id, blocks }]
      const frame = placeOf(exception)
      const where = frame === null ? null : [' ', { code: locationText(frame, place.root) }]
      return [
        { fold: [...heading, where], blocks: [{ html: html`<span id="${id}"></span>`, markdown: '' }, ...blocks] },
      ]
    }),
  ]
}

function headingOf(chain: NumberedChain, exception: Exception, index: number): Inline {
  const { exceptions, numbers } = chain
  const { class: name, code, relation, statusCode, uncaught } = exception
  const badges = [code, statusCode, relation === 'logged' ? 'from the log' : null, uncaught ?? null]
  const { place = null } = numbers[index] ?? {}
  const role = [roleOf(chain, index), place].filter(text => text !== null).join(', ')
  return [
    name,
    uncaught === undefined ? null : [' ', { badge: 'nobody caught it', tone: 'error' }],
    ...badges.map(badge => (badge === null ? null : [' ', { badge }])),
    exceptions.length > 1 ? [' ', { small: role }] : null,
  ]
}

/** An exception with its message and advice, the line that matters, and its properties. */
function bodyOf(chain: NumberedChain, exception: Exception, index: number, place: Place, hasFrames: boolean): Blocks {
  const { class: name, message, properties } = exception
  const entries = Object.entries(properties)
  const names = entries.map(([name]) => name).join(', ')
  const table: Block = { title: `Properties of ${name}`, pairs: entries.map(([name, value]) => [name, { value }]) }
  return [
    message === ''
      ? { text: 'No message.', look: 'muted' }
      : { html: html`<p class="message">${message}</p>`, markdown: codeBlock(message) },
    ...adviceOf(properties).map(advice => ({ notice: advice, tone: 'warning' as const })),
    ...stackBlocks(chain, exception, index, place, hasFrames),
    entries.length > 0 && { fold: `${count(entries.length, 'property', 'properties')}: ${names}`, blocks: [table] },
  ]
}

/** What an error says to do. That of a database stands beside its statement. */
function adviceOf({ help, hint, remedy, severity }: Exception['properties']): string[] {
  if (severity !== undefined) return []
  return [hint, remedy, help].filter(advice => typeof advice === 'string' && advice !== '').map(String)
}

/** The line that matters with its source, and the other frames folded. */
function stackBlocks(
  { cause: root, exceptions, numbers }: NumberedChain,
  { frames }: Exception,
  index: number,
  place: Place,
  hasFrames: boolean,
): Blocks {
  if (frames.length === 0) return emptyBlocks('No stack trace.')
  const nearest = nearestOwnFrame(exceptions, index)
  const cause = nearestOwnFrame(exceptions, root)
  const isSame = index !== root && nearest !== null && nearest.file === cause?.file && nearest.line === cause.line
  const main = frames.find(({ kind }) => kind === 'own')
  const rest = frames.filter(frame => frame !== main)
  const own = rest.filter(({ kind }) => kind === 'own').length
  const amount = count(rest.length, main === undefined ? 'frame' : 'more frame')
  return [
    main === undefined && nearest !== null && { text: 'No frame of yours. The nearest line of yours:', look: 'muted' },
    isSame
      ? {
          text: ['Same place as ', { link: numbers[root]?.number ?? '', to: `#exception-${root + 1}` }, '.'],
          look: 'muted',
        }
      : nearest && frameBlock(nearest, place),
    hasFrames &&
      rest.length > 0 && {
        fold: own > 0 ? `${amount}, ${own} of them yours` : amount,
        blocks: [{ html: renderFrameList(rest, place), markdown: '' }],
      },
  ]
}

function frameBlock(frame: Frame, place: Place): Block {
  const source = frame.excerpt === undefined ? null : excerptMarkdown(frame.excerpt, frame.file)
  return { html: renderFrame(frame, place), markdown: blocks(code(locationText(frame, place.root)), source) }
}

function renderFrameList(frames: readonly Frame[], place: Place): Markup {
  let sources = 0
  return html`<ol class="frames">${frames.map(
    frame => html`
<li>${renderFrame(frame, place, frame.excerpt !== undefined && sources++ < MORE_SOURCES)}</li>`,
  )}</ol>`
}

function renderFrame(frame: Frame, place: Place, hasSource = true): Markup {
  const { excerpt, function: name } = frame
  return html`<p class="frame row">${renderLocation(frame, place)} <span class="muted">${name ?? 'anonymous'}</span></p>${hasSource && excerpt !== undefined && renderExcerpt(narrowed(excerpt))}`
}

function narrowed({ first, line, lines }: Excerpt): Excerpt {
  const from = Math.max(first, line - LINES_AROUND)
  return { first: from, line, lines: lines.slice(from - first, line - first + LINES_AROUND + 1) }
}

/** An exception and its frames as Node prints them, with shortened paths. */
export function stackTraceText(exception: Exception, root: string): string {
  const lines = exception.frames.map(frame => {
    const place = locationText(frame, root)
    return frame.function === null ? `    at ${place}` : `    at ${frame.function} (${place})`
  })
  return [errorText(exception), ...lines].join('\n')
}

/** That an error which nobody caught has ended the process. @param time milliseconds since 1970 */
export function crashText(time: number): string {
  return `The process crashed at ${formatTime(time)} of an error that nobody caught.`
}

export function exceptionCard(thrown: Exception, all: readonly Exception[], root: string): ToolbarCard {
  const place = thrown.frames.find(({ kind }) => kind === 'own')
  return {
    title: thrown.class,
    ...(place !== undefined && { note: locationText(place, root) }),
    rows: all.map(exception => [exception.relation, errorText(exception), '']),
  }
}

/** Characters of a message that are shown before its cause. */
const outerMost = 60

/** The error that stands for a request, with its root cause. */
export function failureText({ cause, exceptions, worst }: Chain, database: Profile['database']): string | null {
  const thrown = exceptions[worst]
  const root = exceptions[cause]
  if (thrown === undefined || root === undefined) return null
  const reason = errorText({ ...root, message: reasonOf(root.message, queryOf(root, database)?.sql ?? '') })
  if (thrown === root) return reason
  return `${errorText({ ...thrown, message: cut(thrown.message, outerMost) })}, caused by ${reason}`
}

/** The place of a frame, or else of the query that failed: a driver's error may have no frame of the application. */
export function placeOfFailure(
  { cause, exceptions }: Chain,
  frame: Frame | null,
  database: Profile['database'],
): Location | null {
  if (frame !== null) return resolveLocation(frame)
  const root = exceptions[cause]
  return (root && queryOf(root, database)?.location) ?? null
}

export function summariseExceptions(profile: Profile): Pick<ProfileSummary, 'exception' | 'thrownAt'> {
  const { database } = profile
  const chain = chainOf(profile)
  const at = placeOfFailure(chain, lineOf(chain), database)
  return {
    exception: failureText(chain, database)?.slice(0, 200) ?? null,
    ...(at !== null && { thrownAt: `${at.file}:${at.line}:${at.column}` }),
  }
}
