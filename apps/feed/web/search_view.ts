import {h} from '#design/dom';
import type {App, View} from './app';
import {peopleSearch} from './people_search';
import {searchHash} from './routes';

// The URL keeps the query, so that going back restores it.
export function searchView(app: App, query: string): View {
  const search = peopleSearch(app, {
    query,
    onQuery: (text) => history.replaceState(history.state, '', searchHash(text)),
  });
  return {
    element: h('section', {class: 'column'}, h('h1', {class: 'title', tabindex: -1}, 'Search'), search.element),
    title: 'Search',
    ended: search.ended,
  };
}
