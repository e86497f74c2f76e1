import { timeKindOf } from '../performance/exclusive-time.ts'
import { type Diagnosis, features } from '../../core/feature.ts'
import type { AnyPanel, Tone, ToolbarCard, ToolbarItem, ViewContext } from '../../core/panel.ts'
import { attempt, visible } from '../../core/foreign-value.ts'
import type { MemoryUse, Profile } from '../../core/profile.ts'
import { isNavigation, untouched } from '../../core/view/debug-answer.ts'
import { locationText, statusText, statusTone } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { assetUrl } from '../../core/view/page.ts'
import { panelData } from '../home/profile-page.ts'
import { endOfBody, permitsReports, permitToolbar, toolbarHash } from './toolbar-place.ts'
import { cut, formatBytes, formatShare } from '../../core/view/units.ts'
import { profileUrl } from '../../core/urls.ts'
import type { Replace } from '../../core/watch/answer.ts'
import type { Exchange } from '../../core/watch/exchange.ts'

const rowsShown = 5
const warningsShown = 3
const longestText = 160

/** A card that is small enough for an attribute of the page. The texts may be an application's own. */
export function boundedCard({ title, note, warnings = [], rows = [], foot }: ToolbarCard): ToolbarCard {
  const left = rows.length - rowsShown
  // One line, which is cut again where it does not fit.
  const line = (text: string) => cut(String(text).replaceAll(/\s+/g, ' '), longestText)
  return {
    title: line(title),
    ...(note !== undefined && { note: line(note) }),
    warnings: warnings.slice(0, warningsShown).map(line),
    rows: rows.slice(0, rowsShown).map(([mark, text, figure]) => [line(mark), line(text), line(figure)]),
    ...(foot === undefined ? left > 0 && { foot: `${left} more` } : { foot: line(foot) }),
  }
}

/** The heap of the process when the page was made. Other requests count, too. */
function heapItem({ heapLimit, heapTotal, heapUsedAtEnd, heapUsedAtStart }: MemoryUse): ToolbarItem {
  const grown = heapUsedAtEnd - heapUsedAtStart
  return {
    label: 'Heap',
    value: formatBytes(heapUsedAtEnd),
    tone: 'neutral',
    card: {
      title: `${formatBytes(heapUsedAtEnd)} of the heap used`,
      note: `${formatShare(heapUsedAtEnd, heapLimit)} of its limit`,
      rows: [
        ['', grown < 0 ? 'freed during the request' : 'added during the request', formatBytes(Math.abs(grown))],
        ['', 'reserved', formatBytes(heapTotal)],
        ['', 'limit', formatBytes(heapLimit)],
      ],
      foot: 'the whole process, with other requests',
    },
  }
}

/** Which request this page answers, and which code did. */
function requestCard({ host, method, routing, token, url }: Profile, root: string): ToolbarCard {
  const { matched } = routing
  return {
    title: `${method} ${url}`,
    rows: [
      ...(matched === null ? [] : [['route', `${matched.method.join(', ')} ${matched.url}`, ''] as const]),
      ...(matched === null ? [] : [['handler', matched.handler, ''] as const]),
      ...(matched?.location == null ? [] : [['defined in', locationText(matched.location, root), ''] as const]),
      ...(host === null ? [] : [['host', host, ''] as const]),
      ['token', token, ''],
    ],
  }
}

const spansShown = 50
const longestName = 80

/** A span for the browser's Performance panel: name, colour there, start and duration in milliseconds. */
type TrackEntry = readonly [name: string, colour: string, start: number, duration: number]

/** Colours of the Performance panel, by kind of time. */
const colours: Partial<Record<string, string>> = { hook: 'primary', handler: 'secondary', sql: 'tertiary' }

function serverTrack({ duration, spans }: Profile): { duration: number; entries: TrackEntry[] } {
  const longest = spans
    .map((span): TrackEntry => [
      span.name.slice(0, longestName),
      colours[timeKindOf(span)] ?? 'primary-light',
      span.start,
      span.duration,
    ])
    .sort(([, , , one], [, , , other]) => other - one)
    .slice(0, spansShown)
  return { duration, entries: longest.sort(([, , one], [, , other]) => one - other) }
}

interface ToolbarEntry extends ToolbarItem {
  panel: string
}

/** The toolbar items of all panels, in panel order, and the heap. A panel that throws has none. */
export function toolbarEntries(context: ViewContext, panels: readonly AnyPanel[]): ToolbarEntry[] {
  const entries = panels.flatMap(panel => {
    const data = panelData(panel, context.profile)
    if (data === null) return []
    return attempt(() => {
      const item = panel.toolbarItem?.(data, context) ?? null
      return item === null ? [] : [entryOf(item, panel.name)]
    }, [])
  })
  return [...entries, entryOf(heapItem(context.profile.memory), 'performance')]
}

function entryOf({ card, ...item }: ToolbarItem, panel: string): ToolbarEntry {
  return { ...item, panel, ...(card !== undefined && { card: boundedCard(card) }) }
}

function isBad(tone: Tone): boolean {
  return tone === 'error' || tone === 'warning'
}

/** JSON that reads the same in every encoding, since the page may have another than UTF-8. */
function asciiJson(value: unknown): string {
  return visible(JSON.stringify(value)).replace(
    /[^ -~]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * The tag that adds the toolbar to a page: an external script with the toolbar's data in an attribute. It creates a
 * custom element with a shadow tree, which keeps the page's styles and scripts apart from the toolbar's. It is not
 * deferred, so that it hears the errors of scripts that are.
 * @param mayReport whether the page's policy lets the toolbar report the page's errors
 */
export function renderToolbar(context: ViewContext, panels: readonly AnyPanel[], mayReport: boolean): Markup {
  const { profile, base, root } = context
  const url = profileUrl(base, profile.token)
  const reports = features.find(({ reports }) => reports !== undefined)?.reports
  const data = {
    base,
    url,
    status: {
      text: statusText(profile.status),
      tone: statusTone(profile.status),
      card: boundedCard(requestCard(profile, root)),
    },
    items: toolbarEntries(context, panels)
      // Warnings and errors first, so that a narrow screen shows them.
      .sort((one, other) => Number(isBad(other.tone)) - Number(isBad(one.tone)))
      .map(({ panel, ...item }) => ({ ...item, url: profileUrl(base, profile.token, panel) })),
    logs: profileUrl(base, profile.token, 'logs'),
    report: mayReport && reports !== undefined ? `${url}/${reports}` : null,
    track: serverTrack(profile),
  }
  return html`<script src="${assetUrl(base, 'toolbar.js')}" integrity="${toolbarHash}" data-profiler="${asciiJson(data)}"></script>`
}

export function addToolbar({ raw, response }: Exchange, { panels, view }: Diagnosis): Replace | null {
  const { statusCode } = response
  // The client assembles partial content from several responses.
  if ((statusCode >= 300 && statusCode < 400) || statusCode === 206) return null
  const isHtml = /^text\/html\b/i.test(String(response.getHeader('content-type') ?? ''))
  if (!isHtml || untouched.some(name => response.hasHeader(name)) || !isNavigation(raw)) return null
  return body => {
    const tag = renderToolbar(view(), panels, permitsReports(response)).toString()
    // Latin-1 has one byte per character, so that string indexes are byte offsets.
    const end = endOfBody(body.toString('latin1'))
    if (end === null) return null
    permitToolbar(response)
    return Buffer.concat([body.subarray(0, end), Buffer.from(tag), body.subarray(end)])
  }
}
