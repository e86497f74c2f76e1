const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Whether requests with this method change nothing (RFC 9110, section 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return safeMethods.has(method)
}
