/** Values of a link by the name of the parameter that they are for, as runtime expressions of OpenAPI. */
type LinkValues = { [parameter: string]: string };

interface ApiOperation {
  /** What a generated client calls it. */
  id: string;
  /** What an answer leads to: the id of an operation, and what it takes beyond the path parameters that both have. */
  links?: { [id: string]: LinkValues };
  /** The same, of a turn that has open calls: status 202. */
  openLinks?: { [id: string]: LinkValues };
  /** The same, of operations that take a value in their body. */
  bodyLinks?: { [id: string]: LinkValues };
}

/** Of a turn, while some of its calls are open. */
const OPEN = 202;
const FIRST_FAILURE = 300;

const inAnswer = (pointer: string): string => `$response.body#/${pointer}`;

const WORKSPACE = '/api/v1/workspaces/{workspaceId}';
const SESSION = `${WORKSPACE}/sessions/{sessionId}`;
const TURN = `${SESSION}/turns/{turnId}`;
const FILE = `${WORKSPACE}/files/{fileId}`;

const workspace = { workspaceId: inAnswer('id') };
const session = { sessionId: inAnswer('sessionId') };
const turn = { turnId: inAnswer('result/turnId') };
const call = { ...turn, toolCallId: inAnswer('result/toolCalls/0/toolCallId') };
const file = { fileId: inAnswer('fileId') };
const login = {
  refreshToken: { refreshToken: inAnswer('refreshToken') },
  logout: { refreshToken: inAnswer('refreshToken') },
};

/** Of each route its name, and where its answer leads to. */
export const API_OPERATIONS: { [route: string]: ApiOperation } = {
  'POST /api/v1/auth/register': { id: 'register', bodyLinks: login },
  'POST /api/v1/auth/login': { id: 'login', bodyLinks: login },
  'POST /api/v1/auth/refresh': { id: 'refreshToken', bodyLinks: login },
  'POST /api/v1/auth/logout': { id: 'logout' },
  'POST /api/v1/workspaces': {
    id: 'createWorkspace',
    links: {
      ...{
        getWorkspace: workspace,
        changeWorkspace: workspace,
        addMember: workspace,
        createSession: workspace,
      },
      ...{ callTool: workspace, listFiles: workspace, queryAudit: workspace },
    },
  },
  'GET /api/v1/workspaces': {
    id: 'listWorkspaces',
    links: { getWorkspace: { workspaceId: inAnswer('workspaces/0/id') } },
  },
  [`GET ${WORKSPACE}`]: { id: 'getWorkspace' },
  [`PUT ${WORKSPACE}`]: { id: 'changeWorkspace', links: { getWorkspace: {} } },
  [`GET ${WORKSPACE}/members`]: { id: 'listMembers' },
  [`POST ${WORKSPACE}/members`]: {
    id: 'addMember',
    links: { setMemberRole: { userId: inAnswer('userId') }, removeMember: { userId: inAnswer('userId') } },
  },
  [`PUT ${WORKSPACE}/members/{userId}`]: { id: 'setMemberRole', links: { removeMember: {} } },
  [`DELETE ${WORKSPACE}/members/{userId}`]: { id: 'removeMember' },
  [`GET ${WORKSPACE}/tools`]: { id: 'listTools' },
  [`POST ${WORKSPACE}/tools`]: { id: 'callTool' },
  [`GET ${WORKSPACE}/clients`]: { id: 'listClients' },
  [`GET ${WORKSPACE}/roots`]: {
    id: 'listRoots',
    links: { forgetRoot: { docPath: inAnswer('roots/0/docPath') } },
  },
  [`PUT ${WORKSPACE}/roots/{docPath}`]: { id: 'claimRoot', links: { forgetRoot: {} } },
  [`DELETE ${WORKSPACE}/roots/{docPath}`]: { id: 'forgetRoot' },
  [`POST ${WORKSPACE}/blobs/missing`]: { id: 'findMissingBlobs' },
  [`POST ${WORKSPACE}/blobs/read`]: { id: 'readBlobs' },
  [`PUT ${WORKSPACE}/blobs/{sha256}`]: { id: 'putBlob' },
  [`POST ${WORKSPACE}/blobs`]: { id: 'putBlobs' },
  [`GET ${WORKSPACE}/contents/{path}`]: { id: 'getContents' },
  [`PUT ${WORKSPACE}/contents/{path}`]: {
    id: 'putContents',
    links: {
      ...{ getContents: {}, listFileVersions: file, diffFile: file, restoreFile: file },
      getVersionContent: { ...file, versionId: inAnswer('versionId') },
    },
  },
  [`POST ${WORKSPACE}/files/commit`]: { id: 'commitFiles' },
  [`GET ${WORKSPACE}/files`]: {
    id: 'listFiles',
    links: { listFileVersions: { fileId: inAnswer('files/0/fileId') } },
  },
  [`GET ${FILE}/versions`]: {
    id: 'listFileVersions',
    links: { getVersionContent: { versionId: inAnswer('versions/0/versionId') } },
  },
  [`GET ${FILE}/versions/{versionId}/content`]: { id: 'getVersionContent' },
  [`GET ${FILE}/diff`]: { id: 'diffFile' },
  [`POST ${FILE}/restore`]: {
    id: 'restoreFile',
    links: { listFileVersions: {}, getVersionContent: { versionId: inAnswer('versionId') } },
  },
  [`GET ${WORKSPACE}/patches/{batchId}`]: {
    id: 'getBatch',
    links: {
      ...{ diffBatch: {}, revertBatch: {} },
      getChange: { changeId: inAnswer('files/0/changes/0/changeId') },
    },
  },
  [`GET ${WORKSPACE}/patches/{batchId}/diff`]: { id: 'diffBatch' },
  [`POST ${WORKSPACE}/patches/{batchId}/revert`]: {
    id: 'revertBatch',
    links: { getTurn: { ...turn, sessionId: '$request.body#/sessionId' } },
  },
  [`GET ${WORKSPACE}/changes/{changeId}`]: {
    id: 'getChange',
    links: { getBatch: { batchId: inAnswer('batchId') } },
  },
  [`POST ${WORKSPACE}/sessions`]: {
    id: 'createSession',
    links: { getSession: session, putActiveFiles: session, getContext: session, postTurn: session },
  },
  [`GET ${WORKSPACE}/sessions`]: {
    id: 'listSessions',
    links: { getSession: { sessionId: inAnswer('sessions/0/sessionId') } },
  },
  [`GET ${SESSION}`]: { id: 'getSession' },
  [`PUT ${SESSION}/active-files`]: { id: 'putActiveFiles', links: { getContext: {} } },
  [`GET ${SESSION}/context`]: { id: 'getContext' },
  [`GET ${WORKSPACE}/turns`]: { id: 'listOpenTurns' },
  [`POST ${SESSION}/turns`]: {
    id: 'postTurn',
    links: { getTurn: turn, cancelTurn: turn },
    openLinks: { postResults: turn, cancelCall: call },
  },
  [`GET ${TURN}`]: {
    id: 'getTurn',
    links: { cancelTurn: {} },
    openLinks: { postResults: {}, cancelCall: call },
  },
  [`POST ${TURN}/results`]: { id: 'postResults', links: { getTurn: {} } },
  [`POST ${TURN}/cancel`]: { id: 'cancelTurn', links: { getTurn: {} } },
  [`POST ${TURN}/tool-calls/{toolCallId}/cancel`]: { id: 'cancelCall', links: { getTurn: {} } },
  [`GET ${WORKSPACE}/audit`]: { id: 'queryAudit' },
  'GET /health/live': { id: 'live' },
  'GET /health/ready': { id: 'ready' },
};

const ROUTES = new Map(Object.entries(API_OPERATIONS).map(([route, { id }]) => [id, route]));

/** The links of a route's answer of a status, by the operations that they lead to. */
export function linksOf(route: string, status: number): { [name: string]: object } {
  if (status >= FIRST_FAILURE) return {};
  const { links = {}, openLinks = {}, bodyLinks = {} } = API_OPERATIONS[route]!;
  const mine = new Set<string>(pathParameters(route));
  const toPaths = Object.entries({ ...links, ...(status === OPEN && openLinks) }).map(
    ([operationId, values]) => {
      const shared = pathParameters(ROUTES.get(operationId)!).filter(
        (name) => mine.has(name) && !(name in values),
      );
      const parameters = Object.fromEntries(shared.map((name) => [name, `$request.path.${name}`]));
      return [operationId, { operationId, parameters: { ...parameters, ...values } }] as const;
    },
  );
  const toBodies = Object.entries(bodyLinks).map(
    ([operationId, requestBody]) => [operationId, { operationId, requestBody }] as const,
  );
  return Object.fromEntries<object>([...toPaths, ...toBodies]);
}

function pathParameters(route: string): string[] {
  return [...route.matchAll(/\{(\w+)\}/g)].map((found) => found[1]!);
}
