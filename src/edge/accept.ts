/** Whether a client can take JSON. Only a client that says that it cannot is refused. */
const JSON_RANGE = /^(\*\/\*|application\/(\*|json|problem\+json))$/;

export function acceptsJson(accept: string | null): boolean {
  if (accept === null || accept.trim() === "") return true;
  return accept.split(",").some((item) => {
    const [range = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return JSON_RANGE.test(range) && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
