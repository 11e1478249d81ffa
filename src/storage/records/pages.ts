const PAGE = 100;

/** Groups items into pages. */
export async function* inPages<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let page: Item[] = [];
  for await (const item of items) {
    if (page.push(item) < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
