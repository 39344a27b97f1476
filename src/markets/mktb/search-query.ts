import { typed } from './graphql.ts';

/** Queries one page of a search. */
export const searchQuery = `query SearchProductV5Query($params: String!) { searchProductV5(params: $params) ${typed(`
  {
    header {
      totalData
      responseCode
      keywordProcess
      keywordIntention
      componentID
      isQuerySafe
      additionalParams
      backendFilters
      meta {
        dynamicFields
      }
    }
    data {
      totalDataText
      products {
        oldID: id
        id: id_str_auto_
        ttsProductID
        name
        url
        applink
        mediaURL {
          image
          image300
          videoCustom
        }
        shop {
          oldID: id
          id: id_str_auto_
          ttsSellerID
          name
          url
          city
          tier
        }
        stock {
          ttsSKUID
        }
        badge {
          oldID: id
          id: id_str_auto_
          title
          url
        }
        price {
          text
          number
          range
          original
          discountPercentage
        }
        freeShipping {
          url
        }
        labelGroups {
          position
          title
          type
          url
          styles {
            key
            value
          }
        }
        labelGroupsVariant {
          title
          type
          typeVariant
          hexColor
        }
        category {
          oldID: id
          id: id_str_auto_
          name
          breadcrumb
          gaKey
        }
        rating
        wishlist
        ads {
          id
          productClickURL
          productViewURL
          productWishlistURL
          tag
        }
        meta {
          oldParentID: parentID
          parentID: parentID_str_auto_
          oldWarehouseID: warehouseID
          warehouseID: warehouseID_str_auto_
          isImageBlurred
          isPortrait
        }
      }
    }
  }
`)} }`;

/** Queries one page of a category. */
export const categoryQuery = `query SearchProductQuery($params: String) { CategoryProducts: searchProduct(params: $params) ${typed(`
  {
    count
    data: products {
      id
      url
      imageUrl: image_url
      imageUrlLarge: image_url_700
      catId: category_id
      gaKey: ga_key
      countReview: count_review
      discountPercentage: discount_percentage
      preorder: is_preorder
      name
      price
      priceInt: price_int
      original_price
      rating
      wishlist
      labels {
        title
        color
      }
      badges {
        imageUrl: image_url
        show
      }
      shop {
        id
        url
        name
        goldmerchant: is_power_badge
        official: is_official
        reputation
        clover
        location
      }
      labelGroups: label_groups {
        position
        title
        type
      }
    }
  }
`)} }`;
