import type { ProfileSummary, SearchResult } from '../../base/profile.ts'
import { blocks, code, plain, table } from './markdown.ts'
import { formatDuration, formatTime } from '../parts/units.ts'

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
    ['Status', 'Request', 'Duration', 'Route', 'Exception', 'Time', 'Profile'],
    profiles.map(profile => [
      String(profile.status ?? 'none'),
      code(`${profile.method} ${profile.url}`),
      formatDuration(profile.duration),
      profile.route === null ? '' : code(profile.route),
      plain(profile.exception ?? ''),
      formatTime(profile.time),
      code(`${base}/${profile.token}`),
    ]),
  )
}
