/** The status of a response and the sentence with which it says why it is no other. */
export function problemOf({ statusCode, json }: { statusCode: number; json: () => { detail: string } }) {
  return [statusCode, json().detail]
}
