/** A part of a route's path as the request has it, lacks it, or has it in excess. */
export interface PathPiece {
  text: string
  change: 'same' | 'missing' | 'excess'
}

/** Longer paths are compared as wholes. */
const longest = 200

/**
 * What has to change in a requested path for a route to match, letter by letter. A parameter matches any text without a
 * slash, and a wildcard any text.
 */
export function comparePaths(asked: string, route: string): PathPiece[] {
  const tokens = route.match(/:[\w]+(?:\([^/]*\))?\??|\*|./gs) ?? []
  if (asked.length > longest || tokens.length > longest) return [{ text: route, change: 'same' }]
  // The last shared letter is compared too, because what a parameter matches depends on the letter before it.
  const start = Math.max(0, sharedLetters(asked, tokens) - 1)
  const pieces = compareTokens(asked.slice(start), tokens.slice(start))
  return pieces.map((piece, index) => (index === 0 ? { ...piece, text: route.slice(0, start) + piece.text } : piece))
}

/** How many letters the path and the route have in common before they differ, or before a parameter. */
function sharedLetters(asked: string, tokens: readonly string[]): number {
  const end = tokens.findIndex((token, at) => token !== asked[at])
  return end === -1 ? tokens.length : end
}

function compareTokens(asked: string, tokens: readonly string[]): PathPiece[] {
  const costs = costsOf(asked, tokens)
  const pieces: PathPiece[] = []
  const add = (text: string, change: PathPiece['change']) => {
    const last = pieces.at(-1)
    if (last?.change === change) last.text += text
    else pieces.push({ text, change })
  }
  const cost = (at: number, from: number) => costs[at]?.[from] ?? Infinity
  for (let at = 0, from = 0; at < tokens.length || from < asked.length;) {
    const token = tokens[at]
    const here = cost(at, from)
    const until = endsOf(asked, from, tokens, at).find(end => cost(at + 1, end) === here)
    if (token !== undefined && until !== undefined) {
      add(token, 'same')
      at++
      from = until
    } else if (token !== undefined && cost(at + 1, from) + 1 === here) {
      add(token, 'missing')
      at++
    } else {
      add(asked.charAt(from), 'excess')
      from++
    }
  }
  return pieces
}

/** The least number of letters to add or drop from each place in the route and the path to the end of both. */
function costsOf(asked: string, tokens: readonly string[]): number[][] {
  let next = Array.from({ length: asked.length + 1 }, (_, from) => asked.length - from)
  const costs = [next]
  for (let at = tokens.length - 1; at >= 0; at--) {
    const row: number[] = []
    for (let from = asked.length; from >= 0; from--) {
      const matched = costMatched(next, asked, from, tokens, at)
      row[from] = Math.min(matched, (next[from] ?? Infinity) + 1, (row[from + 1] ?? Infinity) + 1)
    }
    costs.unshift(row)
    next = row
  }
  return costs
}

/** The cost after the text that a token matches; Infinity if it matches none. */
function costMatched(
  next: readonly number[],
  asked: string,
  from: number,
  tokens: readonly string[],
  at: number,
): number {
  const token = tokens[at]
  // Most tokens are letters. An array for each of them takes four times as long.
  if (token !== '*' && token?.length === 1) return asked[from] === token ? (next[from + 1] ?? Infinity) : Infinity
  return Math.min(...endsOf(asked, from, tokens, at).map(end => next[end] ?? Infinity))
}

/** Where the text that a token matches may end, longest first. */
function endsOf(asked: string, from: number, tokens: readonly string[], at: number): number[] {
  const token = tokens[at]
  if (token === '*') return [asked.length]
  if (token === undefined || token.length === 1) return asked.charAt(from) === token ? [from + 1] : []
  if (tokens[at - 1] === '/' && asked.charAt(from - 1) !== '/') return []
  const slash = asked.indexOf('/', from)
  const end = slash === -1 ? asked.length : slash
  const isWhole = (tokens[at + 1] ?? '/') === '/'
  return Array.from({ length: isWhole ? Math.min(1, end - from) : end - from }, (_, index) => end - index)
}

/** The change in words: Add “s”; Drop “x”; “artists” for “artwork”. */
export function differenceText(pieces: readonly PathPiece[]): string {
  const changes: string[] = []
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]
    const next = pieces[index + 1]
    if (piece === undefined || piece.change === 'same') continue
    if (next !== undefined && next.change !== 'same') {
      // What is missing always comes before what is in excess.
      changes.push(`“${piece.text}” for “${next.text}”`)
      index++
    } else changes.push(`${piece.change === 'missing' ? 'add' : 'drop'} “${piece.text}”`)
  }
  const text = changes.length > 3 ? 'similar path' : changes.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
