const PAGE = 100;

/** Items some at a time, as they are or as `to` makes them. */
export async function* inPages<From, To>(
  items: AsyncIterable<From>,
  to: (item: From) => To,
): AsyncGenerator<To[]> {
  let page: To[] = [];
  for await (const item of items) {
    if (page.push(to(item)) < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
