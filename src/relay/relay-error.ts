import type { RelayError } from '@patchbay/protocol';
import type { DomainError } from '../common/domain-error.js';

/** A refusal as a relay client gets it: what the HTTP filter says, and the details that only a client can act on [RELAY-26]. */
export function relayErrorOf({ code, message, extras }: DomainError): RelayError {
  const { fields, details, retryAfterSeconds } = extras;
  return {
    ...{ code, message },
    ...(fields && { fields }),
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
