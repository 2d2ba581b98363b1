// Creates elements without a framework and without HTML strings: text can never become markup.

export type Child = Node | string | number | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: never) => void);
export type Attributes = Record<string, Attribute>;

// h('button', {class: 'button', type: 'button', onclick: save}, 'Save'). `true` sets an empty attribute; null,
// undefined and false leave it out, but aria-* and data-* are set to "false".
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...present(children));
  return element;
}

function setAttribute(element: Element, name: string, value: Attribute) {
  if (typeof value === 'function') {
    element.addEventListener(name.replace(/^on/, ''), value as EventListener);
  } else if (typeof value === 'boolean' && /^(aria|data)-/.test(name)) {
    element.setAttribute(name, String(value));
  } else if (value !== null && value !== undefined && value !== false) {
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

const present = (children: Child[]) =>
  children
    .filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));

// The element with this id, which must be in the page's HTML.
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

// Changes the text only if it differs: screen readers announce every change of a live region.
export function setText(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text;
}

// Whether keys pressed there enter text rather than trigger commands of the page.
export function acceptsText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  if (target instanceof HTMLInputElement) return !['button', 'checkbox', 'radio', 'submit'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
