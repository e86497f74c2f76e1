const names: Record<string, string> = {
  'text/html': 'HTML',
  'text/plain': 'text',
  'text/css': 'CSS',
  'text/javascript': 'JavaScript',
  'text/event-stream': 'event stream',
  'application/json': 'JSON',
  'application/problem+json': 'JSON',
  'application/octet-stream': 'binary',
}

/** A content type in a word: HTML, JSON, png. */
export function mediaTypeName(contentType: string): string {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
  return names[type] ?? type.slice(type.indexOf('/') + 1)
}
