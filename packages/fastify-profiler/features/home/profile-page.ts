import type { FastifyInstance } from 'fastify'
import { features, type PageSources, type ProfileAction, type RelatedProfiles } from '../../core/feature.ts'
import type { AnyPanel, ViewContext } from '../../core/panel.ts'
import { attempt } from '../../core/foreign-value.ts'
import type { Json, Profile } from '../../core/profile.ts'
import { blocksHtml, blocksMarkdown, emptyBlocks } from '../../core/view/block.ts'
import { outcomeText, statusText } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain } from '../../core/view/markdown.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import { renderPage, sendFormats } from '../../core/view/page.ts'
import { previousRequest, sightingsOf } from './like-requests.ts'
import { sendMissing, sendUnknown } from './not-found-page.ts'
import {
  droppedTexts,
  parentName,
  renderCost,
  renderGaps,
  renderProfileActions,
  renderProfileHeader,
  sightingsText,
  timeText,
} from './profile-header.ts'
import { showSearch } from './search-page.ts'
import { formatDuration, formatTime } from '../../core/view/units.ts'
import { profileUrl } from '../../core/urls.ts'

/** A panel's data: read from the profile, or collected with it. */
export function panelData(panel: AnyPanel, profile: Profile): unknown {
  return 'read' in panel ? panel.read(profile) : collected(panel.name, profile)
}

/** The panels, the one that says most about a request first. */
export function panelsByWeight(panels: readonly AnyPanel[], profile: Profile): AnyPanel[] {
  const weightOf = (panel: AnyPanel) => ('read' in panel && panel.opens?.(profile)) || 0
  return panels.toSorted((one, other) => weightOf(other) - weightOf(one))
}

function collected(name: string, { panels }: Profile): Json {
  return Object.hasOwn(panels, name) ? (panels[name] ?? null) : null
}

/**
 * The menu of panels. A badge that throws is left out: the panel's body shows the error. `urlOf`: where a panel is.
 * `open`: the panel that is shown; null if all are.
 */
export function renderPanelMenu(
  panels: readonly AnyPanel[],
  profile: Profile,
  urlOf: (panel: string) => string,
  open: string | null,
): Markup {
  return html`<nav class="menu" aria-label="Panels"><ul>${panels.map(panel => {
    const { name, label } = panel
    const data = panelData(panel, profile)
    const badge = data === null ? null : attempt(() => panel.badge?.(data) ?? null, null)
    return html`
<li><a href="${urlOf(name)}"${name === open && html` aria-current="page"`}${data === null && html` class="empty"`}>${label}${data === null && html`<span class="sr-only"> (empty)</span>`}${badge !== null && html` <span class="fact ${badge.tone}">${badge.text}</span>`}</a></li>`
  })}
</ul></nav>`
}

export function renderPanelBody(panel: AnyPanel, context: ViewContext): Markup {
  const data = panelData(panel, context.profile)
  try {
    const blocks = data === null ? panel.empty?.(context) : panel.view(data, context)
    return blocksHtml(blocks ?? emptyBlocks('Nothing was recorded for this request.'), context)
  } catch (error) {
    // Panels are application code: an error in one must not break the page.
    return html`<p class="notice error">This panel could not be shown: ${String(error)}</p>`
  }
}

const noRelated: RelatedProfiles = { caused: [], previous: null, next: null, previousOfRoute: null, sightings: null }

/** A profile with the panel of the name `open`. */
export function renderProfilePage(
  context: ViewContext,
  panels: readonly AnyPanel[],
  open: string,
  related = noRelated,
  actions: readonly ProfileAction[] = [],
): string {
  const { profile, base, root } = context
  const panel = panels.find(({ name }) => name === open)
  const label = panel?.label ?? open
  return renderPage({
    title: `${label} · ${profile.status ?? 'no response'} ${profile.method} ${profile.url.slice(0, 80)}`,
    base,
    root,
    panel: open,
    header: renderProfileHeader(context, {
      actions: renderProfileActions(profile, base, open, related, actions),
      caused: related.caused,
      seen: related.sightings === null ? null : sightingsText(related.sightings, base),
      when: timeText(profile.time),
    }),
    menu: renderPanelMenu(panels, profile, name => profileUrl(base, profile.token, name), open),
    main: html`<h2 class="sr-only">${label}</h2>
${renderGaps(profile)}
${panel !== undefined && renderPanelBody(panel, context)}`,
    footer: html`<div class="only-narrow">${renderProfileActions(profile, base, open, related, actions)}</div>
${renderCost(profile)}`,
  })
}

/** A profile as Markdown: the open panel, or every panel that has data. */
export function renderProfileMarkdown(context: ViewContext, panels: readonly AnyPanel[], open?: string): string {
  const { profile } = context
  const shown = open === undefined ? panels : panels.filter(({ name }) => name === open)
  return (
    blocks(
      `# ${statusText(profile.status)}: ${code(`${profile.method} ${profile.url}`)}`,
      [
        `- Token: ${code(profile.token)}`,
        `- Time: ${formatTime(profile.time)}`,
        `- Duration: ${formatDuration(profile.duration)}`,
        `- Host: ${code(profile.host ?? 'none')}, IP: ${code(profile.ip ?? 'unknown')}`,
        ...(profile.parent === null ? [] : [`- ${parentName(profile)}: ${code(profile.parent)}`]),
        `- Outcome: ${outcomeText(profile.outcome) ?? 'Completed'}`,
        ...Object.entries(profile.labels).map(([name, value]) => `- ${plain(name)}: ${plain(value)}`),
        ...droppedTexts(profile).map(text => `- ${plain(text)}`),
        ...profile.notes.map(note => `- Note: ${plain(note)}`),
      ].join('\n'),
      ...shown.map(panel => {
        const data = panelData(panel, profile)
        return data === null ? null : blocks(`## ${plain(panel.label)}`, panelMarkdown(panel, data, context))
      }),
    ) + '\n'
  )
}

export function panelMarkdown(panel: AnyPanel, data: unknown, context: ViewContext): string {
  try {
    // A text shows everything at once, as a file does.
    return blocksMarkdown(panel.view(data, { ...context, isFile: true }), context.root)
  } catch (error) {
    return `This panel could not be shown: ${plain(String(error))}`
  }
}

/** Subrequests listed in the header of a request. */
const causedShown = 20

export function profileRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, panels, viewContext } = sources
  const actions = features.flatMap(({ action }) => action ?? [])

  app.get<{ Params: { token: string } }>(`${base}/:token`, async function showProfile(request, reply) {
    // `<base>/` arrives here, since it cannot be a route of its own if the router ignores trailing slashes.
    if (request.params.token === '') return showSearch(request, reply, sources)
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const { token } = profile
    const wanted = queryOf(request).get('panel') || null
    const name = wanted ?? panelsByWeight(panels, profile)[0]?.name ?? ''
    const open = panels.find(panel => panel.name === name)
    const why = `There is no panel "${name}".`
    if (open === undefined) return sendMissing(request, reply, { what: 'part', why, token, panels }, sources)
    const { profiles: caused } = await archive.search({ parent: token, perPage: causedShown })
    const context = { ...viewContext(profile), query: queryOf(request) }
    const previousOfRoute = (await previousRequest(archive, profile))?.token ?? null
    const sightings = await sightingsOf(archive, profile)
    const related = { caused, previousOfRoute, sightings, ...(await archive.neighbours(token)) }
    return sendFormats(request, reply, {
      html: () => renderProfilePage(context, panels, open.name, related, actions),
      json: () => (wanted === null ? context.profile : { token, panel: name, data: panelData(open, context.profile) }),
      markdown: () => renderProfileMarkdown(context, panels, wanted ?? undefined),
    })
  })
}
