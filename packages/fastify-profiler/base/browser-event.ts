/**
 * Something that went wrong in the browser that shows a page. error: a script threw. rejection: a promise was rejected
 * and nobody handled it. request: one of the page's own requests failed.
 */
export interface BrowserEvent {
  kind: 'error' | 'rejection' | 'request'
  /** Milliseconds since the browser asked for the page. */
  time: number
  /** The error's message, or the URL of the request. */
  message: string
  /** The file, line and column of an error; null if the browser does not tell. */
  place: string | null
  stack: string | null
  /** The status of a request; null for errors, and without a response. */
  status: number | null
}
