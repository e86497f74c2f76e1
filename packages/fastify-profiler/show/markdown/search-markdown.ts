import type { ProfileSummary, SearchResult } from '../../base/summary.ts'
import { shortened } from './fit-lines.ts'
import { blocks, code, plain, table } from './markdown.ts'
import { formatDuration, formatTime } from '../parts/units.ts'

/** Bytes of a text in a list. The profile has it in full. */
const longestCell = 120

/** The results of a search as a table. */
export function renderSearchMarkdown({ problems, profiles, total, page, pages }: SearchResult, base: string): string {
  return (
    blocks(
      `# Requests: ${total}`,
      ...problems.map(plain),
      profiles.length === 0 ? 'None.' : profilesMarkdown(profiles, base),
      pages > 1 ? `Page ${page} of ${pages}.` : null,
    ) + '\n'
  )
}

/** A table of profiles, each with the path of its page. */
export function profilesMarkdown(profiles: readonly ProfileSummary[], base: string): string {
  return table(
    ['Profile', 'Status', 'Request', 'Duration', 'Queries', 'Route', 'Exception', 'Time'],
    profiles.map(profile => [
      code(`${base}/${profile.token}`),
      String(profile.status ?? 'none'),
      code(shortened(`${profile.method} ${profile.url}`, longestCell)),
      formatDuration(profile.duration),
      String(profile.queries.count),
      profile.route === null ? '' : code(shortened(profile.route, longestCell)),
      plain(shortened(profile.exception ?? '', longestCell)),
      formatTime(profile.time),
    ]),
  )
}
