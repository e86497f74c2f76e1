import type { Profile } from '../base/profile.ts'
import { profilesMarkdown } from '../show/markdown/search-markdown.ts'
import { answerText } from './answer-text.ts'
import type { Answer, Arguments, AskedSources } from './question.ts'

const newestShown = 5

/** The token in a token, a path or a URL of a profile. */
export function tokenIn(text: string): string {
  return text.replace(/[?#].*$/s, '').replace(/^.*\//s, '')
}

/** Finds a profile by its token, path or URL, or the newest by "latest". */
export async function findProfile(text: string, { archive, viewContext }: AskedSources): Promise<Profile | null> {
  const profile = await archive.find(tokenIn(text))
  return profile === null ? null : viewContext(profile).profile
}

/** The answer to a question about a profile that is not stored. */
export async function missingProfile(
  name: string,
  { text, tokens }: Arguments,
  { archive, base }: AskedSources,
): Promise<Answer> {
  const isRunning = archive.isRunning(tokenIn(text(name) ?? ''))
  const lead = isRunning
    ? 'This request is still running. Its profile is stored after the response.'
    : `No profile has this ${name}. It may have expired.`
  const { profiles } = await archive.search({ perPage: newestShown })
  const section = {
    heading: 'The newest requests',
    recorded: profiles.length === 0 ? 'None.' : profilesMarkdown(profiles, base),
    more: () => ({ tool: 'search', arguments: {} }),
  }
  return { text: answerText(lead, [section], [], tokens), data: { error: lead }, failed: true }
}

/** An answer that says why there is none. */
export function refusal(reason: string): Answer {
  return { text: reason, data: { error: reason }, failed: true }
}
