/** The growth of y per x, by least squares. */
export function slopeOf(points: ReadonlyArray<readonly [x: number, y: number]>): number {
  const mean = (place: 0 | 1) => points.reduce((sum, point) => sum + point[place], 0) / points.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const [products, squares] = points.reduce(
    ([products, squares], [x, y]) => [products + (x - meanX) * (y - meanY), squares + (x - meanX) ** 2],
    [0, 0],
  )
  return products / squares
}
