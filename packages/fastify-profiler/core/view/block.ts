import type { Location } from '../profile.ts'
import { highlightJson, renderCodeBlock, renderSqlBlock } from './code-block.ts'
import {
  type Column,
  locationText,
  type Place,
  renderBadge,
  renderDataTable,
  renderEmptyState,
  renderKeyValueTable,
  renderLineTable,
  renderLocation,
  renderMetrics,
  renderSeverity,
  renderValue,
  type Severity,
  valueText,
  type Tone,
} from './elements.ts'
import { html, Markup } from './html.ts'
import { blocks as joined, code, codeBlock, plain, table } from './markdown.ts'

/**
 * A piece of a line. `code`: as typed. `place`: a line of the application, with a link to the editor. `value`: a
 * recorded value, as JSON unless it is text. `html`: what only a page shows, with its `markdown`.
 */
export type Inline =
  | string
  | number
  | null
  | readonly Inline[]
  | { code: string }
  | { place: Location | null }
  | { badge: string | number; tone?: Tone }
  | { small: Inline }
  | { muted: Inline }
  | { strong: Inline; tone?: Tone }
  | { link: Inline; to: string }
  | { value: unknown }
  | { html: Markup; markdown: string }

export type Row = readonly Inline[] | { cells: readonly Inline[]; className: string }

/** Something that was found, with where and how bad it is: a warning, a verdict, a conclusion. */
export interface Finding {
  tone: Severity
  claim: Inline
  /** Why, and what to do. */
  detail?: Inline
  places?: readonly Location[]
  /** At the end of its line, such as a link. */
  aside?: Inline
}

/** A part with a heading. */
interface Section {
  section: Inline
  count?: number
  /** Beside the heading: the order of what follows, its unit. */
  note?: string
  /** By which a link leads here. */
  id?: string
  /** Buttons and links at the right of the heading, left out of Markdown. */
  actions?: Markup
  blocks: readonly Block[]
}

/**
 * What a panel or page shows. It is said once: `blocksHtml` makes a page of it, `blocksMarkdown` a text for agents,
 * files and the terminal. `html` is for what is drawn, such as a waterfall; its `markdown` says the same in words.
 */
export type Block =
  | { text: Inline; look?: 'muted' | 'headline' }
  | { notice: Inline; tone?: Tone }
  | { metrics: ReadonlyArray<readonly [label: string, value: Inline, note?: Inline]> }
  | { pairs: ReadonlyArray<readonly [name: Inline, value: Inline]>; title: string; empty?: string }
  /** `lines`: the class of a table of one line a row. `className`: that of any other. */
  | {
      rows: readonly Row[]
      title: string
      columns: readonly Column[]
      empty?: string
      lines?: string
      className?: string
    }
  | { findings: readonly Finding[] }
  | { source: string; language: 'sql' | 'json' | 'text' }
  | Section
  | { fold: Inline; blocks: readonly Block[] }
  | { html: Markup; markdown: string }

/** The level of the headings of sections, below those of the panels. */
const sectionLevel = 3

/** Renders blocks for a page. */
export function blocksHtml(blocks: readonly Block[], place: Place, level = sectionLevel): Markup {
  return html`${blocks.map(block => html`${blockHtml(block, place, level)}\n`)}`
}

function blockHtml(block: Block, place: Place, level: number): Markup {
  const line = (inline: Inline) => inlineHtml(inline, place)
  if ('html' in block) return block.html
  if ('text' in block) {
    return html`<p${block.look !== undefined && html` class="${block.look}"`}>${line(block.text)}</p>`
  }
  if ('notice' in block) {
    return html`<p class="notice${block.tone !== undefined && ` ${block.tone}`}">${line(block.notice)}</p>`
  }
  if ('metrics' in block) {
    return renderMetrics(
      block.metrics.map(([label, value, note]) => ({
        label,
        value: line(value),
        ...(note != null && { note: line(note) }),
      })),
    )
  }
  if ('pairs' in block) {
    const pairs = block.pairs.map(([name, value]) => [line(name), line(value)] as const)
    return renderKeyValueTable(block.title, pairs, block.empty)
  }
  if ('rows' in block) {
    const columns = block.columns.filter(({ only }) => only !== 'text')
    const cellsOf = (cells: readonly Inline[]) =>
      cells.filter((_, index) => block.columns[index]?.only !== 'text').map(line)
    const rows = block.rows.map(row =>
      'cells' in row ? { ...row, cells: cellsOf(row.cells) } : { cells: cellsOf(row) },
    )
    if (block.lines !== undefined && rows.length > 0) return renderLineTable(block.title, columns, rows, block.lines)
    return renderDataTable(block.title, columns, rows, block.empty, block.className)
  }
  if ('findings' in block) return renderFindings(block.findings, place)
  if ('source' in block) {
    if (block.language === 'sql') return renderSqlBlock(block.source)
    if (block.language === 'text') return renderCodeBlock(block.source)
    return html`<pre class="json" tabindex="0"><code>${highlightJson(block.source)}</code></pre>`
  }
  if ('section' in block) return renderSection(block, place, level)
  return html`<details class="fold"><summary>${line(block.fold)}</summary>${blocksHtml(block.blocks, place, level)}</details>`
}

function renderSection({ section, count, note, id, actions, blocks }: Section, place: Place, level: number): Markup {
  const name = new Markup(`h${level}`)
  const heading = html`<${name}>${inlineHtml(section, place)}${count !== undefined && html` <span class="count">${count.toLocaleString('en')}</span>`}${note !== undefined && html` <small>${note}</small>`}</${name}>`
  return html`<section${id !== undefined && html` id="${id}"`}>${actions === undefined ? heading : html`<div class="head">${heading}${actions}</div>`}
${blocksHtml(blocks, place, level + 1)}</section>`
}

function renderFindings(findings: readonly Finding[], place: Place): Markup {
  if (findings.length === 0) return html``
  return html`<ul class="findings">${findings.map(
    ({ tone, claim, detail, places = [], aside = null }) => html`
<li>${renderSeverity(tone)}<p><b>${inlineHtml(claim, place)}</b>${detail !== undefined && html` ${inlineHtml(detail, place)}`}</p>${(places.length > 0 || aside !== null) && html`<span>${places.map(location => html` ${renderLocation(location, place)}`)}${inlineHtml(aside, place)}</span>`}</li>`,
  )}
</ul>`
}

/** Renders a piece of a line for a page. */
function inlineHtml(inline: Inline, place: Place): Markup {
  if (inline === null) return html``
  if (typeof inline !== 'object') return html`${inline}`
  if (isList(inline)) return html`${inline.map(part => inlineHtml(part, place))}`
  if ('code' in inline) return html`<code>${inline.code}</code>`
  if ('place' in inline) return renderLocation(inline.place, place)
  if ('badge' in inline) return renderBadge(inline.badge, inline.tone)
  if ('small' in inline) return html`<small>${inlineHtml(inline.small, place)}</small>`
  if ('muted' in inline) return html`<span class="muted">${inlineHtml(inline.muted, place)}</span>`
  if ('strong' in inline) {
    return html`<b${inline.tone !== undefined && html` class="${inline.tone}"`}>${inlineHtml(inline.strong, place)}</b>`
  }
  if ('link' in inline) return html`<a href="${inline.to}">${inlineHtml(inline.link, place)}</a>`
  return 'value' in inline ? renderValue(inline.value) : inline.html
}

/** Renders blocks as Markdown. `root`: the application's folder, which file names are shown relative to. */
export function blocksMarkdown(blocks: readonly Block[], root: string, level = sectionLevel): string {
  return joined(...blocks.map(block => blockMarkdown(block, root, level)))
}

function blockMarkdown(block: Block, root: string, level: number): string {
  const line = (inline: Inline) => inlineMarkdown(inline, root)
  const heading = (title: string) => `${'#'.repeat(level)} ${title}`
  if ('html' in block) return block.markdown
  if ('text' in block) return line(block.text)
  if ('notice' in block) return line(block.notice)
  if ('metrics' in block) {
    return block.metrics
      .map(([label, value, note]) => `- ${plain(label)}: ${line(value)}${note == null ? '' : ` (${line(note)})`}`)
      .join('\n')
  }
  if ('pairs' in block) {
    if (block.pairs.length === 0) return plain(block.empty ?? 'None.')
    return table(
      ['Name', 'Value'],
      block.pairs.map(([name, value]) => [line(name), line(value)]),
    )
  }
  if ('rows' in block) {
    if (block.rows.length === 0) return plain(block.empty ?? 'None.')
    const isTold = (_: unknown, index: number) => block.columns[index]?.only !== 'page'
    return table(
      block.columns.filter(isTold).map(({ label }) => plain(label)),
      // The spaces that line up decimal points in a page.
      block.rows.map(row => ('cells' in row ? row.cells : row).filter(isTold).map(cell => line(cell).trim())),
    )
  }
  if ('findings' in block) {
    return block.findings
      .map(({ claim, detail, places = [], aside = null }) =>
        ['-', line(claim), line(detail ?? null), ...places.map(place => line({ place })), line(aside)]
          .filter(part => part !== '')
          .join(' '),
      )
      .join('\n')
  }
  if ('source' in block) return codeBlock(block.source, block.language === 'text' ? '' : block.language)
  const [title, inner] = 'section' in block ? [block.section, block.blocks] : [block.fold, block.blocks]
  const amount = 'count' in block && block.count !== undefined ? ` (${block.count})` : ''
  const note = 'note' in block && block.note !== undefined ? plain(block.note) : null
  const text = blocksMarkdown(inner, root, level + 1)
  // Without a text, it is drawn.
  return text === '' ? '' : joined(heading(`${line(title)}${amount}`), note, text)
}

/** Renders a piece of a line as Markdown. */
function inlineMarkdown(inline: Inline, root: string): string {
  if (inline === null) return ''
  if (typeof inline !== 'object') return plain(String(inline))
  if (isList(inline)) return inline.map(part => inlineMarkdown(part, root)).join('')
  if ('code' in inline) return code(inline.code)
  if ('place' in inline) return inline.place === null ? '' : code(locationText(inline.place, root))
  if ('badge' in inline) return plain(String(inline.badge))
  if ('small' in inline) return inlineMarkdown(inline.small, root)
  if ('muted' in inline) return inlineMarkdown(inline.muted, root)
  if ('strong' in inline) return inlineMarkdown(inline.strong, root)
  if ('link' in inline) return inlineMarkdown(inline.link, root)
  return 'value' in inline ? code(valueText(inline.value)) : inline.markdown
}

/** Array.isArray() does not narrow a readonly array. */
function isList(inline: object): inline is readonly Inline[] {
  return Array.isArray(inline)
}

/** What identifies a request, or the start of an application. */
export type Fact = readonly [name: string, value: Inline]

/** The facts in the band at the top of a page. In a text they are `metrics`. */
export function renderFacts(facts: readonly Fact[], place: Place, label = 'Facts'): Markup {
  return html`<dl class="facts" tabindex="0" aria-label="${label}">${facts.map(
    ([name, value]) => html`
<div><dt>${name}</dt> <dd>${inlineHtml(value, place)}</dd></div>`,
  )}
</dl>`
}

/** Where a panel without data says why. */
export function emptyBlocks(why: string): readonly Block[] {
  return [{ html: renderEmptyState(why), markdown: plain(why) }]
}
