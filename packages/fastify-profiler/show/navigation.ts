import type { IncomingMessage } from 'node:http'

/** Whether the response is for a page or a frame, not for a script, an image or a download. */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (headers['x-requested-with'] !== undefined) return false
  const destination = headers['sec-fetch-dest']
  if (destination !== undefined) {
    return destination === 'document' || destination === 'iframe' || destination === 'frame'
  }
  const { accept = '' } = headers
  return method !== 'HEAD' && accept.includes('text/html')
}
