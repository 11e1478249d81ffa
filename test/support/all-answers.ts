import type { AuditPage, CloudFilePage, CloudFileVersionPage, SessionPage } from '@patchbay/protocol';
import type { RelayFixture } from './relay-fixture.js';

/** All that the API answers about the workspace. */
export async function answersAbout(of: RelayFixture): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const { workspaceId, user } = of;
  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await user.get<T>(path);
    answers[path] = [status, body];
    return body;
  };
  const base = `/workspaces/${workspaceId}`;
  await get('/workspaces');
  for (const path of ['', '/members', '/turns']) await get(`${base}${path}`);
  const { sessions } = await get<SessionPage>(`${base}/sessions`);
  for (const { sessionId } of sessions)
    for (const path of ['', '/context?format=json']) await get(`${base}/sessions/${sessionId}${path}`);
  for (const deleted of [false, true]) {
    const { files } = await get<CloudFilePage>(`${base}/files?deleted=${deleted}`);
    for (const { fileId } of files) {
      const { versions } = await get<CloudFileVersionPage>(`${base}/files/${fileId}/versions`);
      for (const { versionId } of versions)
        await get(`${base}/files/${fileId}/versions/${versionId}/content`);
    }
  }
  for (let cursor = ''; ;) {
    const page = await get<AuditPage>(`${base}/audit?limit=20${cursor}`);
    for (const { fields } of page.events)
      if (typeof fields.batchId === 'string')
        for (const path of ['', '/diff']) await get(`${base}/patches/${fields.batchId}${path}`);
    for (const { turnId, sessionId } of page.events)
      if (turnId !== null && sessionId !== null) await get(`${base}/sessions/${sessionId}/turns/${turnId}`);
    if (page.nextCursor === null) break;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  return answers;
}
