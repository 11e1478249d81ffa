import type { HttpRequest, HttpTransport } from './http-transport.js';

export abstract class WorkspaceRequests {
  constructor(
    protected readonly http: HttpTransport,
    readonly workspaceId: string,
  ) {}

  protected getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.send({ method: 'GET', path, signal });
  }

  protected send<T>(request: HttpRequest): Promise<T> {
    return this.http.request(this.inWorkspace(request));
  }

  /** An answer in text form, such as a diff. */
  protected async readText(request: Omit<HttpRequest, 'method'>): Promise<string> {
    const { bytes } = await this.http.requestBytes(this.inWorkspace({ ...request, method: 'GET' }));
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  /** The items of a list. Reads pages as the loop needs them. */
  protected async *pages<Page extends { nextCursor: string | null }, Item>(
    request: Omit<HttpRequest, 'method'>,
    itemsOf: (page: Page) => readonly Item[],
  ): AsyncGenerator<Item, void> {
    let cursor: string | undefined;
    do {
      const query = { ...request.query, cursor };
      const page = await this.send<Page>({ ...request, method: 'GET', query });
      yield* itemsOf(page);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  protected inWorkspace(request: HttpRequest): HttpRequest {
    return { ...request, path: `/workspaces/${encodeURIComponent(this.workspaceId)}${request.path}` };
  }
}
